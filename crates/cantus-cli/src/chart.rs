//! The geometry of charts: a treemap, and the scale of an axis.

/// A rectangle, in any unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Area {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Area {
    fn size(self) -> f64 {
        self.width * self.height
    }

    /// Cuts off a strip of this size along the shorter side: the strip, and what is left.
    fn cut(self, size: f64) -> (Self, Self) {
        let Self { x, y, width, height } = self;
        if width >= height {
            let strip = if height > 0.0 { (size / height).min(width) } else { 0.0 };
            (Self { width: strip, ..self }, Self { x: x + strip, width: width - strip, ..self })
        } else {
            let strip = if width > 0.0 { (size / width).min(height) } else { 0.0 };
            (Self { height: strip, ..self }, Self { y: y + strip, height: height - strip, ..self })
        }
    }
}

/// Fills `area` with one rectangle for each weight, in the order of the weights: sizes are proportional to them, and shapes are
/// kept near squares (squarified treemap). Weights of 0 get nothing.
pub(crate) fn treemap(weights: &[u64], area: Area) -> Vec<Area> {
    let total: f64 = weights.iter().map(|weight| *weight as f64).sum();
    let unit = if total > 0.0 { area.size() / total } else { 0.0 };
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(weights[*index]));
    let size = |index: usize| weights[index] as f64 * unit;
    let mut areas = vec![Area { width: 0.0, height: 0.0, ..area }; weights.len()];
    let (mut left, mut next) = (area, 0);
    while next < order.len() && weights[order[next]] > 0 {
        let count = row(&order[next..], left, size);
        let members = &order[next..next + count];
        let (mut strip, rest) = left.cut(members.iter().map(|index| size(*index)).sum());
        for index in members {
            // Within the strip the cuts go across it, whatever its shape.
            let across = left.width >= left.height;
            let share = if across { strip.width } else { strip.height };
            let length = if share > 0.0 { size(*index) / share } else { 0.0 };
            areas[*index] =
                if across { Area { height: length, ..strip } } else { Area { width: length, ..strip } };
            if across { strip.y += length } else { strip.x += length }
        }
        (left, next) = (rest, next + count);
    }
    areas
}

/// How many of the next weights make the best strip: as long as the worst shape in it gets no worse.
fn row(order: &[usize], left: Area, size: impl Fn(usize) -> f64) -> usize {
    let side = left.width.min(left.height);
    // The largest and the smallest stand at the ends.
    let worst = |sum: f64, most: f64, least: f64| {
        let (side, sum) = (side * side, sum * sum);
        (side * most / sum).max(sum / (side * least))
    };
    let most = order.first().map_or(0.0, |index| size(*index));
    let (mut sum, mut count, mut best) = (0.0, 0, f64::INFINITY);
    for index in order {
        let least = size(*index);
        let ratio = worst(sum + least, most, least);
        // Not a number where a weight is 0, which ends the strip too.
        if count > 0
            && !matches!(ratio.partial_cmp(&best), Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal))
        {
            break;
        }
        (sum, count, best) = (sum + least, count + 1, ratio);
    }
    count.max(1)
}

/// The marks of an axis that starts at 0 and reaches `most`: at most six, at round numbers, the last one not below `most`.
pub(crate) fn ticks(most: u64) -> Vec<u64> {
    let most = most.max(1);
    let mut power = 1_u64;
    loop {
        for factor in [1, 2, 5] {
            let step = power.saturating_mul(factor);
            let count = most.div_ceil(step);
            if count <= 5 {
                return (0..=count).map(|number| number.saturating_mul(step)).collect();
            }
        }
        power = power.saturating_mul(10);
    }
}

/// A bar of `share` (0 to 1) of `width` cells, in eighths of a cell.
pub(crate) fn bar(share: f64, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let eighths = (share.clamp(0.0, 1.0) * width as f64 * 8.0).round() as usize;
    // What is there can be seen.
    let eighths = if share > 0.0 { eighths.max(1) } else { eighths };
    format!("{}{}", "█".repeat(eighths / 8), PARTS[eighths % 8])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const PAGE: Area = Area { x: 0.0, y: 0.0, width: 100.0, height: 50.0 };

    #[track_caller]
    fn check_ticks(most: u64, expected: &[u64]) {
        assert_eq!(ticks(most), expected);
    }

    #[test]
    fn round_marks() {
        check_ticks(0, &[0, 1]);
        check_ticks(7, &[0, 2, 4, 6, 8]);
        check_ticks(10_350, &[0, 5000, 10_000, 15_000]);
        check_ticks(32_768, &[0, 10_000, 20_000, 30_000, 40_000]);
    }

    #[test]
    fn bars_in_eighths() {
        assert_eq!(bar(1.0, 3), "███");
        assert_eq!(bar(0.5, 3), "█▌");
        assert_eq!(bar(0.0001, 3), "▏");
        assert_eq!(bar(0.0, 3), "");
        assert_eq!(bar(7.0, 2), "██");
    }

    #[test]
    fn one_weight_fills_the_page() {
        assert_eq!(treemap(&[3], PAGE), [PAGE]);
        assert_eq!(treemap(&[], PAGE), []);
        assert!(treemap(&[0, 0], PAGE).iter().all(|area| area.size() == 0.0));
    }

    #[test]
    fn equal_weights_become_squares() {
        let areas = treemap(&[1, 1], PAGE);
        assert!(areas.iter().all(|area| (area.width, area.height) == (50.0, 50.0)), "{areas:?}");
    }

    fn overlap(one: Area, other: Area) -> f64 {
        let width = (one.x + one.width).min(other.x + other.width) - one.x.max(other.x);
        let height = (one.y + one.height).min(other.y + other.height) - one.y.max(other.y);
        width.max(0.0) * height.max(0.0)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn rectangles_are_proportional_inside_and_apart(weights in vec(prop_oneof![0..4u64, 1..100_000u64], 1..40)) {
            let areas = treemap(&weights, PAGE);
            let total: u64 = weights.iter().sum();
            for (index, (area, weight)) in areas.iter().zip(&weights).enumerate() {
                let wanted = if total == 0 { 0.0 } else { PAGE.size() * *weight as f64 / total as f64 };
                prop_assert!((area.size() - wanted).abs() < 1e-6, "{weight}: {area:?}");
                if *weight == 0 {
                    continue;
                }
                prop_assert!(area.x >= 0.0 && area.y >= 0.0, "{area:?}");
                prop_assert!(area.x + area.width <= 100.0 + 1e-6 && area.y + area.height <= 50.0 + 1e-6, "{area:?}");
                for other in &areas[index + 1..] {
                    prop_assert!(overlap(*area, *other) < 1e-6, "{area:?} {other:?}");
                }
            }
        }

        #[test]
        fn marks_reach_the_most_and_are_few(most in 0..u64::MAX / 16) {
            let ticks = ticks(most);
            prop_assert!(ticks.len() >= 2 && ticks.len() <= 6);
            prop_assert!(ticks[0] == 0 && *ticks.last().unwrap() >= most && ticks.is_sorted());
        }
    }
}
