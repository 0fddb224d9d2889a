//! Colours as a bundle names them, and which of them can be read.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// The lightness that a legible colour has, in OKLab from 0 to 1.
const LIGHTNESS: std::ops::RangeInclusive<f64> = 0.60..=0.80;
/// The least chroma of one.
const CHROMA: f64 = 0.05;

/// A colour in sRGB, eight bits a channel, shown as `#rrggbb`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Colour {
    channels: [u8; 3],
}

/// Why a text is no colour of a bundle.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ColourError {
    /// Not six hex digits.
    #[error("`{}` is no colour; expected `#rrggbb`", .0.escape_debug())]
    Shape(String),
    /// Too dark or too light.
    #[error("`{colour}` has the lightness {lightness:.2}; expected 0.60 to 0.80")]
    Lightness {
        /// The colour.
        colour: Colour,
        /// Its OKLab lightness.
        lightness: f64,
    },
    /// Too gray.
    #[error("`{colour}` has the chroma {chroma:.3}; expected at least 0.05")]
    Gray {
        /// The colour.
        colour: Colour,
        /// Its OKLab chroma.
        chroma: f64,
    },
}

/// Why colours have no meld.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MeldError {
    /// There are none.
    #[error("no colour to meld; expected one at least")]
    Empty,
    /// One of them is not legible.
    #[error(transparent)]
    Colour(#[from] ColourError),
    /// They are opposites, and what lies between them is gray.
    #[error("the colours cancel each other out; choose some that differ less")]
    Gray,
}

/// A colour in OKLab (Ottosson's matrices).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OkLab {
    /// Lightness, 0 to 1.
    pub l: f64,
    /// Green to red.
    pub a: f64,
    /// Blue to yellow.
    pub b: f64,
}

impl OkLab {
    /// How far it is from gray.
    #[must_use]
    pub fn chroma(self) -> f64 {
        self.a.hypot(self.b)
    }

    /// Red, green and blue without the curve of sRGB, which has what lies between 0 and 1.
    fn light(self) -> [f64; 3] {
        let l = (self.l + 0.396_337_777_4 * self.a + 0.215_803_757_3 * self.b).powi(3);
        let m = (self.l - 0.105_561_345_8 * self.a - 0.063_854_172_8 * self.b).powi(3);
        let s = (self.l - 0.089_484_177_5 * self.a - 1.291_485_548_0 * self.b).powi(3);
        [
            4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
            -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
            -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s,
        ]
    }

    /// As light, its distance from gray `factor` times as large.
    fn scaled(self, factor: f64) -> Self {
        Self { a: self.a * factor, b: self.b * factor, ..self }
    }
}

impl Colour {
    /// The colour of these channels: red, green, blue.
    #[must_use]
    pub fn new(channels: [u8; 3]) -> Self {
        Self { channels }
    }

    /// The same colour in OKLab.
    #[must_use]
    pub fn oklab(self) -> OkLab {
        let [r, g, b] = self.channels.map(linear);
        let l = (0.412_221_470_8 * r + 0.536_332_536_3 * g + 0.051_445_992_9 * b).cbrt();
        let m = (0.211_903_498_2 * r + 0.680_699_545_1 * g + 0.107_396_956_6 * b).cbrt();
        let s = (0.088_302_461_9 * r + 0.281_718_837_6 * g + 0.629_978_700_5 * b).cbrt();
        OkLab {
            l: 0.210_454_255_3 * l + 0.793_617_785_0 * m - 0.004_072_046_8 * s,
            a: 1.977_998_495_1 * l - 2.428_592_205_0 * m + 0.450_593_709_9 * s,
            b: 0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766_0 * s,
        }
    }

    /// The nearest colour in sRGB to one in OKLab.
    #[must_use]
    pub fn of(lab: OkLab) -> Self {
        Self::new(lab.light().map(channel))
    }

    /// Refuses a colour that can't be told from light, dark or gray: lightness 0.60 to 0.80, chroma at least 0.05.
    pub fn check_legible(self) -> Result<(), ColourError> {
        let lab = self.oklab();
        if !LIGHTNESS.contains(&lab.l) {
            return Err(ColourError::Lightness { colour: self, lightness: lab.l });
        }
        if lab.chroma() < CHROMA {
            return Err(ColourError::Gray { colour: self, chroma: lab.chroma() });
        }
        Ok(())
    }
}

/// One channel without the curve of sRGB.
fn linear(channel: u8) -> f64 {
    let value = f64::from(channel) / 255.0;
    if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

/// One channel with the curve of sRGB, halves rounded up.
fn channel(value: f64) -> u8 {
    let curved = if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is between 0 and 255 and has no fraction"
    )]
    let byte = (curved.clamp(0.0, 1.0) * 255.0).round() as u8;
    byte
}

/// The favourite of a role whose personalities have these colours: their mean, no grayer than the grayest of them, and legible.
/// One colour is its own meld.
pub fn meld(colours: &[Colour]) -> Result<Colour, MeldError> {
    let [first, rest @ ..] = colours else { return Err(MeldError::Empty) };
    colours.iter().try_for_each(|colour| colour.check_legible())?;
    if rest.iter().all(|colour| colour == first) {
        return Ok(*first);
    }
    let labs: Vec<_> = colours.iter().map(|colour| colour.oklab()).collect();
    let count = f64::from(u32::try_from(labs.len()).unwrap_or(u32::MAX));
    let mean = |part: fn(&OkLab) -> f64| labs.iter().map(part).sum::<f64>() / count;
    let mut lab = OkLab { l: mean(|lab| lab.l), a: mean(|lab| lab.a), b: mean(|lab| lab.b) };
    let least = labs.iter().map(|lab| lab.chroma()).fold(f64::INFINITY, f64::min);
    if lab.chroma() > 0.0 && lab.chroma() < least {
        lab = lab.scaled(least / lab.chroma());
    }
    lab.l = lab.l.clamp(*LIGHTNESS.start(), *LIGHTNESS.end());
    settled(lab).ok_or(MeldError::Gray)
}

/// The colour of `lab`, brought into what sRGB has and what can be read; `None` if that is gray.
fn settled(mut lab: OkLab) -> Option<Colour> {
    for _ in 0..64 {
        if lab.light().into_iter().all(|light| (-0.000_1..=1.000_1).contains(&light)) {
            break;
        }
        lab = lab.scaled(0.98);
    }
    legible(lab, Colour::of(lab))
}

/// `colour`, or a near one if rounding to whole channels has put it just outside of what is legible.
fn legible(lab: OkLab, colour: Colour) -> Option<Colour> {
    if colour.check_legible().is_ok() {
        return Some(colour);
    }
    if lab.chroma() < CHROMA {
        return None;
    }
    let steps = [0.002, 0.004, 0.008, 0.016];
    let inside = |l: f64, step: f64| l.clamp(LIGHTNESS.start() + step, LIGHTNESS.end() - step);
    let near = steps
        .into_iter()
        .map(|step| Colour::of(OkLab { l: inside(lab.l, step), ..lab.scaled(1.0 + step * 4.0) }));
    near.into_iter().find(|colour| colour.check_legible().is_ok())
}

impl fmt::Display for Colour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [r, g, b] = self.channels;
        write!(f, "#{r:02x}{g:02x}{b:02x}")
    }
}

/// Six hex digits of either case, with or without `#`.
impl FromStr for Colour {
    type Err = ColourError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix('#').unwrap_or(text);
        let wrong = || ColourError::Shape(text.to_owned());
        if digits.len() != 6 || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(wrong());
        }
        let value = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
        let [_, r, g, b] = value.to_be_bytes();
        Ok(Self::new([r, g, b]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, &str>) {
        let judged =
            text.parse::<Colour>().and_then(|colour| colour.check_legible().map(|()| colour.to_string()));
        assert_eq!(
            judged.map_err(|error| error.to_string()),
            expected.map(str::to_owned).map_err(str::to_owned)
        );
    }

    #[test]
    fn legible_colours() {
        check("#5fa87a", Ok("#5fa87a"));
        check("5FA87A", Ok("#5fa87a"));
        check("#d98e48", Ok("#d98e48"));
        check("#a89e4f", Ok("#a89e4f"));
    }

    #[test]
    fn colours_that_nobody_can_read() {
        check("#000000", Err("`#000000` has the lightness 0.00; expected 0.60 to 0.80"));
        check("#ffffff", Err("`#ffffff` has the lightness 1.00; expected 0.60 to 0.80"));
        check("#999999", Err("`#999999` has the chroma 0.000; expected at least 0.05"));
    }

    #[track_caller]
    fn melds(texts: &[&str], expected: Result<&str, &str>) {
        let colours: Vec<_> = texts.iter().map(|text| text.parse::<Colour>().unwrap()).collect();
        let got = meld(&colours).map(|colour| colour.to_string()).map_err(|error| error.to_string());
        assert_eq!(got, expected.map(str::to_owned).map_err(str::to_owned));
    }

    #[test]
    fn melds_of_colours() {
        melds(&["#d98e48"], Ok("#d98e48"));
        melds(&["#d98e48", "#d98e48"], Ok("#d98e48"));
        melds(&["#d98e48", "#5fa87a"], Ok("#a89e4f"));
        melds(&["#5fa87a", "#d98e48"], Ok("#a89e4f"));
        melds(&[], Err("no colour to meld; expected one at least"));
        melds(&["#d98e48", "#000000"], Err("`#000000` has the lightness 0.00; expected 0.60 to 0.80"));
    }

    #[test]
    fn texts_that_are_no_colour() {
        for text in
            ["", "#", "#5fa87", "#5fa87az", "##5fa87", "5fa87a ", "#5fa 87a", "+5fa87", "green", "#5fa87é"]
        {
            check(text, Err(&format!("`{text}` is no colour; expected `#rrggbb`")));
        }
    }
}
