//! A conversation of 200 requests whose context changes at random.

mod requests;

use cantus_compose::Package;
use cantus_manifest::Stamps;
use cantus_session::{Notes, SessionMaterial, compile};
use requests::{Conversation, REQUESTS};

#[test]
fn updates_send_less_than_everything_and_the_system_text_stays() {
    let wording = Package::built_in(Stamps::Skip).wording();
    let mut conversation = Conversation::new(1);
    let (mut held, mut system, mut updated, mut resent) = (None, None, 0, 0);
    for _ in 0..REQUESTS {
        let launch = conversation.next();
        let material = SessionMaterial { wording: &wording, notes: Notes::default(), bundle: Vec::new() };
        let pack = compile(&launch, &material).value.unwrap();
        let whole = pack.clone().deliver(None);
        let now = pack.deliver(held.as_ref());
        assert_eq!(*system.get_or_insert_with(|| now.system.clone()), now.system);
        resent += whole.system.len() + whole.update.map_or(0, |update| update.content.len());
        if let Some(update) = now.update {
            updated += update.content.len();
            held = Some(update.snapshot);
        }
    }
    let sent = updated + system.unwrap_or_default().len();
    // A few sections change each time: a tenth of everything is plenty.
    assert!(sent * 5 < resent, "{sent} bytes against {resent}");
}
