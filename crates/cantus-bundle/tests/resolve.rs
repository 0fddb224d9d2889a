//! Requests with packages and sources on a disk, resolved, and the trees that come of it.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeSet;

use cantus_bundle::{
    Base, Entry, Materialised, Request, Resolution, built_in_roles, describe, materialise, resolve, verify,
    verify_strictly,
};
use cantus_fs::RealDisk;
use cantus_manifest::{Digest, Outcome};
use cantus_testkit::Repo;

const SKILL: &str = "---\nname: x\ndescription: d\n---\nDo it.\n";

/// A person package in `me`: two roles, two personalities, three boundaries, an invariant.
const PACKAGE: &str = r##"
    //- me/person.kdl
    person "ada"
    //- me/roles/10-smith.kdl
    role "smith" {
        display-name "The Smith"
        purpose "Forge."
        skill "role-smith"
        method "method-anvil"
        boundary "fire"
        boundary-scoped "water" scope="the trough"
        personality "calm"
        personality "keen"
        seat "claude" channel="forge"
        copy-contract scope="tool-response" { forbid "utilize" prefer="use" }
    }
    //- me/roles/20-clerk.kdl
    role "clerk" {
        purpose "Write."
        briefing "First." "Second." "Third."
        personality "calm"
        model-tier "frontier" "oss"
        agent "codex" name="Bo" pronouns="they/them"
    }
    //- me/roles/smith/SKILL.md
    ---
    name: role-smith
    description: Forges. Read it.
    ---
    # Smith

    One.

    Two.

    Secret body.
    //- me/roles/smith/skills/method-anvil/SKILL.md
    ---
    name: method-anvil
    description: How to use the anvil.
    ---
    Hit it.
    //- me/personalities/10-calm.kdl
    personality "calm" skill="personality-calm" color="#d98e48" motif="stone" {
        emblem { name "stone"; emoji "🪨"; glyph "●" }
        sound-mark timbre="low" contour="flat" pulse="slow"
        alias "still" "quiet"
    }
    //- me/personalities/20-keen.kdl
    personality "keen" skill="personality-keen" color="#5fa87a" motif="edge" {
        emblem name="knife" emoji="🔪" glyph="◆"
    }
    //- me/boundaries/10-fire.kdl
    boundary "fire" skill="boundary-fire" owner="clerk" summary="Who lights it."
    //- me/boundaries/20-water.kdl
    boundary "water" skill="boundary-water" owner="clerk" summary="Who pours it."
    //- me/boundaries/30-iron.kdl
    boundary "iron" skill="boundary-iron" owner="smith" summary="Who bends it."
    //- me/definitions/INVARIANT.md
    Be true.
    //- me/definitions/skills/personality-calm/SKILL.md
    ---
    name: personality-calm
    description: Stays calm. Always.
    ---
    Calm body.
    //- me/definitions/skills/personality-keen/SKILL.md
    ---
    name: personality-keen
    description: Is keen.
    ---
    Keen body.
    "##;

/// The body of a boundary, for [`PACKAGE`].
fn boundary(name: &str) -> String {
    format!(
        "---\nname: boundary-{name}\ndescription: d\n---\n## If you own this boundary\n\nOwn it.\n\n\
         ## If you hold this boundary within a scope\n\nHold it.\n\n## If you defer this boundary\n\nDefer.\n"
    )
}

fn repo() -> Repo {
    let repo = Repo::without_git(PACKAGE);
    for name in ["fire", "water", "iron"] {
        repo.write(&format!("me/definitions/skills/boundary-{name}/SKILL.md"), &boundary(name));
    }
    repo
}

/// The request of the smith with these further nodes.
fn smith(more: &str) -> String {
    format!("compose {{ role smith; delivery native-skills; person-source me; {more} }}")
}

fn outcome(repo: &Repo, request: &str, base: Option<&Base>) -> Outcome<Option<Resolution>> {
    let request = Request::read("r.kdl", request.as_bytes());
    assert_eq!(request.diagnostics, []);
    resolve(&RealDisk, &request.value.unwrap(), repo.path(), base)
}

#[track_caller]
fn resolved(repo: &Repo, request: &str) -> Resolution {
    let outcome = outcome(repo, request, None);
    outcome.value.unwrap_or_else(|| panic!("{:?}", outcome.diagnostics))
}

/// The faults of a request, each as it is shown, and that each of these texts is in one of them.
#[track_caller]
fn refused(repo: &Repo, request: &str, expected: &[&str]) {
    let outcome = outcome(repo, request, None);
    assert_eq!(outcome.value, None);
    let shown: Vec<_> = outcome.diagnostics.iter().map(ToString::to_string).collect();
    for expected in expected {
        assert!(shown.iter().any(|shown| shown.contains(expected)), "{expected} in {shown:#?}");
    }
}

#[track_caller]
fn made(repo: &Repo, resolution: &Resolution) -> Materialised {
    let made = materialise(&RealDisk, resolution, &repo.path().join("out")).unwrap();
    verify_strictly(&RealDisk, &made.folder).unwrap();
    made
}

fn ids(resolution: &Resolution) -> Vec<&str> {
    resolution.skills.iter().map(|skill| skill.id.as_str()).collect()
}

/// `outcome subject` of the decisions whose subject starts with this.
fn decided(resolution: &Resolution, prefix: &str) -> Vec<String> {
    let of = resolution.decisions.iter().filter(|decision| decision.subject.starts_with(prefix));
    of.map(|decision| format!("{} {}", decision.outcome, decision.subject)).collect()
}

fn text(repo: &Repo, made: &Materialised, path: &str) -> String {
    repo.read(&format!("out/{}/{path}", made.key))
}

#[test]
fn every_role_of_the_built_in_roster_is_a_bundle() {
    let repo = Repo::without_git("");
    for role in built_in_roles() {
        for delivery in ["native-skills", "compiled"] {
            let resolution = resolved(&repo, &format!("compose {{ role {role}; delivery {delivery} }}"));
            let made = made(&repo, &resolution);
            let manifest = verify(&RealDisk, &made.folder).unwrap().manifest;
            assert_eq!(manifest.role, role);
            assert_eq!(manifest.sources, ["roster:cantus"]);
            assert_eq!(manifest.delivery.mode, delivery);
            assert_eq!(manifest.personalities.len(), 2);
        }
    }
    assert_eq!(built_in_roles(), ["maker", "reviewer", "investigator"]);
}

#[test]
fn instructions_hold_card_and_invariant_and_no_body() {
    let repo = repo();
    let made = made(&repo, &resolved(&repo, &smith("")));
    let instructions = text(&repo, &made, "content/instructions.md");
    assert_eq!(instructions.matches("\n# The Smith\n").count(), 1);
    assert!(instructions.ends_with("\nBe true.\n"));
    assert!(instructions.contains("**Favorite color // #a89e4f**"));
    assert!(
        instructions
            .contains("- `boundary-water`: this role holds it within a scope (the trough). Who pours it.")
    );
    assert!(instructions.contains("\nStays calm.\n") && instructions.contains("`utilize`"));
    for body in ["Secret body", "Calm body", "Hit it", "Hold it", "Second."] {
        assert!(!instructions.contains(body), "{body}");
    }
}

#[test]
fn no_text_of_a_package_opens_a_heading_in_the_card() {
    let repo = repo();
    let role = repo.read("me/roles/10-smith.kdl");
    let role = role.replace("The Smith", "The\\n# Smith").replace("Forge.", "Forge.\\n\\n# Clerk\\n");
    repo.write("me/roles/10-smith.kdl", &role.replace("the trough", "a\\n# b"));
    let card = resolved(&repo, &smith("")).card;
    assert!(card.starts_with("# The # Smith\n\nForge. # Clerk\n"), "{card}");
    assert_eq!(card.lines().filter(|line| line.starts_with("# ")).count(), 1);
    for opened in ["# Clerk", "```text", "~~~", "<!-- Forge."] {
        repo.write(
            "me/roles/10-smith.kdl",
            &role.replace("Forge. # Clerk", opened).replace("Forge.", opened),
        );
        let card = resolved(&repo, &smith("")).card;
        assert!(card.starts_with(&format!("# The # Smith\n\n\\{opened}")), "{card}");
    }
}

#[test]
fn a_role_that_is_broken_is_told_once() {
    let repo = repo();
    repo.remove("me/roles/20-clerk.kdl");
    repo.write("me/roles/smith/SKILL.md", "x");
    let outcome = outcome(&repo, &smith(""), None);
    assert_eq!(outcome.diagnostics.len(), 1, "{:?}", outcome.diagnostics);
    repo.remove("me/roles/10-smith.kdl");
    repo.remove("me/roles/smith/SKILL.md");
    refused(&repo, &smith(""), &["me: error: a package needs a role at least"]);
}

#[test]
fn a_compiled_bundle_holds_the_bodies_in_the_order_of_the_bundle() {
    let repo = repo();
    let request = smith("").replace("native-skills", "compiled");
    let resolution = resolved(&repo, &request);
    let made = made(&repo, &resolution);
    let compiled = text(&repo, &made, "delivery/compiled.md");
    let places: Vec<_> =
        ids(&resolution).iter().map(|id| compiled.find(&format!("name: {id}")).unwrap()).collect();
    assert!(places.is_sorted() && compiled.contains("Secret body"));
    let native = resolved(&repo, &smith(""));
    assert_eq!((&native.content, ids(&native)), (&resolution.content, ids(&resolution)));
    assert_ne!(self::made(&repo, &native).key, made.key);
}

#[test]
fn skills_come_as_role_boundaries_personalities_and_the_rest() {
    let repo = repo();
    let resolution = resolved(&repo, &smith(""));
    assert_eq!(
        ids(&resolution),
        [
            "role-smith",
            "boundary-fire",
            "boundary-water",
            "boundary-iron",
            "personality-calm",
            "personality-keen",
            "method-anvil"
        ]
    );
    assert_eq!(resolution.boundaries, ["fire", "water", "iron"]);
    assert!(resolution.decisions.iter().all(|decision| !decision.reason.is_empty()));
    let profile: Vec<_> =
        resolution.decisions[..6].iter().map(|decision| decision.subject.as_str()).collect();
    let expected = [
        "role:smith",
        "personality:calm",
        "personality:keen",
        "boundary:fire",
        "boundary:water",
        "boundary:iron",
    ];
    assert_eq!(profile, expected);
}

#[test]
fn an_external_package_inherits_nothing() {
    let repo = repo();
    let resolution = resolved(&repo, &smith("person-policy external-only"));
    assert_eq!(resolution.sources.iter().map(ToString::to_string).collect::<Vec<_>>(), ["person:ada"]);
    assert_eq!(resolution.instructions[0].bytes, b"Be true.\n");
    refused(
        &repo,
        &smith("").replace("smith", "maker"),
        &["`person:ada` has no role `maker`", "`smith`, `clerk`"],
    );
    refused(&repo, "compose { role smith; delivery compiled }", &["`roster:cantus` has no role `smith`"]);
    refused(&repo, &smith("").replace("source me", "source you"), &["you: error: no such folder"]);
}

#[test]
fn an_inline_briefing_becomes_a_skill() {
    let repo = repo();
    let request = "compose { role clerk; delivery compiled; person-source me; model-tier oss }";
    let resolution = resolved(&repo, request);
    assert_eq!(resolution.role_source, "person:ada:legacy-role:clerk");
    let entry = String::from_utf8(resolution.skills[0].entry_bytes().unwrap().to_vec()).unwrap();
    assert_eq!(
        entry,
        "---\nname: role-clerk\ndescription: Write.\n---\n\n# clerk\n\nFirst.\n\nSecond.\n\nThird.\n"
    );
    assert_eq!(resolution.role_digest, Digest::of(entry.as_bytes()));
    assert_eq!(resolution.identity.seats[0].name, "Bo");
    made(&repo, &resolution);
    refused(
        &repo,
        &request.replace("oss", "commodity"),
        &["doesn't work on the tier `commodity`; expected `frontier`, `oss`"],
    );
}

#[test]
fn an_identity_renames_the_role_and_every_seat() {
    let repo = repo();
    let plain = made(&repo, &resolved(&repo, "compose { role clerk; delivery compiled; person-source me }"));
    let request =
        "compose { role clerk; delivery compiled; person-source me; identity name=Eve pronouns=\"she/her\" }";
    let resolution = resolved(&repo, request);
    let named = made(&repo, &resolution);
    assert_ne!(plain.key, named.key);
    assert!(resolution.card.contains("**Agent // Eve (she/her)**") && !resolution.card.contains("Bo ("));
    let seats = &resolution.identity.seats;
    assert_eq!((seats[0].key.as_str(), seats[0].name.as_str()), ("codex", "Eve"));
}

#[test]
fn tiers_differ_in_key_alone() {
    let repo = repo();
    let (one, other) = (resolved(&repo, &smith("")), resolved(&repo, &smith("model-tier oss")));
    assert_eq!((&one.content, ids(&one)), (&other.content, ids(&other)));
    assert_ne!(made(&repo, &one).key, made(&repo, &other).key);
    let again = made(&repo, &one);
    assert!(again.reused);
}

#[test]
fn an_omitted_boundary_is_nowhere() {
    let repo = repo();
    let resolution = resolved(&repo, &smith("boundary-omit fire"));
    assert_eq!(resolution.boundaries, ["water", "iron"]);
    assert!(!resolution.card.contains("fire") && !ids(&resolution).contains(&"boundary-fire"));
    assert_eq!(decided(&resolution, "boundary:fire"), ["excluded boundary:fire"]);
    made(&repo, &resolution);
}

#[test]
fn boundaries_that_can_not_be_omitted() {
    let repo = repo();
    refused(
        &repo,
        &smith("boundary-omit nothing"),
        &["`nothing` can't be omitted: `person:ada` knows no such"],
    );
    refused(&repo, &smith("boundary-omit iron"), &["`iron` can't be omitted: the role `smith` owns it"]);
    refused(&repo, &smith("boundary-omit water"), &["the role `smith` holds it within a scope"]);
    let clerk = "compose { role clerk; delivery compiled; person-source me; boundary-omit iron }";
    refused(&repo, clerk, &["the role `clerk` doesn't have it"]);
}

#[test]
fn the_built_in_roster_lends_personalities_alone() {
    let repo = repo();
    let role = repo.read("me/roles/10-smith.kdl").replace("\"keen\"", "\"curious\"");
    repo.write("me/roles/10-smith.kdl", &role);
    refused(&repo, &smith(""), &["has the personality `curious`, which nobody defines"]);
    let resolution = resolved(&repo, &smith("personality-library \"roster:cantus\""));
    assert!(ids(&resolution).contains(&"personality-curious"));
    assert_eq!(resolution.sources.len(), 1);
    assert!(resolution.decisions.iter().all(|decision| !decision.source.contains("roster:cantus")));
    assert_eq!(decided(&resolution, "skill:personality-plain"), ["excluded skill:personality-plain"]);
    made(&repo, &resolution);
}

#[test]
fn libraries_are_merged_once_and_must_agree() {
    let repo = repo();
    let lend = |folder: &str, name: &str, color: &str| {
        repo.write(&format!("{folder}/library.kdl"), &format!("library \"{name}\"\n"));
        let text = format!(
            "personality \"wry\" skill=\"personality-wry\" color=\"{color}\" motif=\"smile\" {{\n\
             emblem name=\"smile\" emoji=\"🙂\" glyph=\"◡\"\n}}\n"
        );
        repo.write(&format!("{folder}/personalities/10-wry.kdl"), &text);
        let body = SKILL.replace("name: x", "name: personality-wry");
        repo.write(&format!("{folder}/definitions/skills/personality-wry/SKILL.md"), &body);
    };
    lend("me/libraries/own", "own", "#6b9bd1");
    lend("lend", "lend", "#6b9bd1");
    let one = resolved(&repo, &smith(""));
    assert_eq!(decided(&one, "skill:personality-wry"), ["excluded skill:personality-wry"]);
    let both = resolved(&repo, &smith("personality-library lend"));
    assert_ne!(made(&repo, &one).key, made(&repo, &both).key);
    lend("lend", "lend", "#c586b8");
    refused(&repo, &smith("personality-library lend"), &["the library `lend` has another personality `wry`"]);
    lend("lend", "own", "#6b9bd1");
    refused(&repo, &smith("personality-library lend"), &["the library `own` comes twice"]);
}

#[test]
fn packages_that_are_broken() {
    type Break = fn(&Repo);
    let cases: &[(Break, &str)] = &[
        (|repo| repo.remove("me/person.kdl"), "me/person.kdl: error: missing"),
        (|repo| repo.write("me/person.kdl", "human \"x\"\n"), "me/person.kdl:1: error: expected one node"),
        (
            |repo| repo.write("me/roles/30-x.kdl", "role y\n"),
            "me/roles/30-x.kdl:1: error: the file is of `x`",
        ),
        (|repo| repo.write("me/roles/x.kdl", "role x\n"), "me/roles/x.kdl: error: expected a name such as"),
        (|repo| repo.write("me/roles/ghost/SKILL.md", "x"), "me/roles/ghost: error: no file says"),
        (|repo| repo.remove("me/roles/smith/SKILL.md"), "me/roles/smith/SKILL.md: error: missing"),
        (|repo| repo.write("me/roles/smith/SKILL.md", SKILL), "expected `name: role-smith`"),
        (
            |repo| repo.write("me/roles/smith/skills/stray/SKILL.md", SKILL),
            "me/roles/smith/skills/stray: error: no `method`",
        ),
        (
            |repo| repo.write("me/definitions/skills/stray/SKILL.md", SKILL),
            "me/definitions/skills/stray: error: no personality and no boundary",
        ),
        (
            |repo| repo.remove("me/definitions/skills/personality-keen/SKILL.md"),
            "me/definitions/skills/personality-keen/SKILL.md: error: missing",
        ),
        (
            |repo| repo.write("me/definitions/INVARIANT.md", "\n"),
            "me/definitions/INVARIANT.md: error: it is empty",
        ),
    ];
    for (breaks, expected) in cases {
        let repo = repo();
        breaks(&repo);
        refused(&repo, &smith(""), &[expected]);
    }
}

#[test]
fn roles_and_looks_that_are_refused() {
    let cases = [
        ("roles/10-smith.kdl", "boundary \"fire\"", "boundary \"fire\" \"water\"", "both deferred and held"),
        ("roles/10-smith.kdl", "boundary \"fire\"", "boundary \"iron\"", "owns the boundary `iron`"),
        ("roles/10-smith.kdl", "boundary \"fire\"", "boundary \"none\"", "`none`, which nobody defines"),
        ("roles/10-smith.kdl", "personality \"keen\"", "personality \"calm\"", "`calm` is named twice"),
        ("roles/10-smith.kdl", "purpose", "aim", "`role` knows no `aim`"),
        ("roles/10-smith.kdl", "channel=", "tier=", "does not support the tier `forge`"),
        ("roles/10-smith.kdl", "skill \"role-smith\"", "skill \"role-x\"", "expected `role-smith`"),
        ("roles/20-clerk.kdl", "briefing \"First.\"", "briefing", "has 2 paragraphs"),
        ("roles/20-clerk.kdl", "name=\"Bo\"", "", "needs both `name` and `pronouns`"),
        ("personalities/20-keen.kdl", "#5fa87a", "#000000", "`#000000` has the lightness"),
        ("personalities/20-keen.kdl", "\"edge\"", "\"-edge\"", "the motif `-edge`"),
        ("personalities/20-keen.kdl", "\"edge\"", "\"stone\"", "the same motif `stone`"),
        ("personalities/20-keen.kdl", "glyph=\"◆\"", "", "`emblem` needs `glyph`"),
        ("boundaries/10-fire.kdl", "boundary-fire", "boundary-x", "expected `boundary-fire`"),
        (
            "definitions/skills/boundary-fire/SKILL.md",
            "## If you defer this",
            "## If you leave this",
            "expected the headings",
        ),
    ];
    for (file, old, new, expected) in cases {
        let repo = repo();
        let file = format!("me/{file}");
        let text = repo.read(&file);
        assert!(text.contains(old), "{old} in {file}");
        repo.write(&file, &text.replace(old, new));
        refused(&repo, &smith(""), &[expected]);
    }
}

/// A root in `shared`: two ordinary skills, three composed ones, a graph.
fn shared(repo: &Repo) {
    for name in ["alpha", "beta"] {
        repo.write(&format!("shared/.agents/skills/{name}/SKILL.md"), &SKILL.replace("Do it", name));
    }
    repo.write("shared/.agents/skills/alpha/deep/SKILL.md", "nested\n");
    repo.write("shared/.agents/skills/README.md", "no skill\n");
    for name in ["forge-hot", "forge-cold", "ledger"] {
        repo.write(&format!("shared/.agents/composed/{name}/COMPOSED.md"), &format!("{name}\n"));
    }
    repo.write("shared/.agents/composed/.hidden", "x");
    repo.write(
        "shared/.agents/roles.kdl",
        "repositories { repository forge path=\"acme/forge\"; repository all path=\"acme/all\"; repository none path=\"acme/none\"; global all; resident-only none }\n\
         roles {\n role smith { composed-skill \"forge-*\"; use-repository forge }\n role clerk { composed-skill ledger }\n role unknown { composed-skill nothing }\n}\n",
    );
}

#[test]
fn a_root_brings_ordinary_skills_and_those_of_the_role() {
    let repo = repo();
    shared(&repo);
    let resolution = resolved(&repo, &smith("source shared root=shared"));
    assert_eq!(ids(&resolution)[7..], ["alpha", "beta", "forge-cold", "forge-hot"]);
    assert_eq!(resolution.skills[9].entry, Entry::Composed);
    assert_eq!(decided(&resolution, "skill:ledger"), [] as [&str; 0]);
    let made = made(&repo, &resolution);
    let skills = "content/skills/shared";
    assert_eq!(text(&repo, &made, &format!("{skills}/forge-hot/SKILL.md")), "forge-hot\n");
    assert_eq!(text(&repo, &made, &format!("{skills}/alpha/deep/SKILL.md")), "nested\n");
    assert!(!repo.files().iter().any(|file| file.starts_with("out/") && file.contains("COMPOSED")));
    let repositories: Vec<_> =
        resolution.repositories.iter().map(|it| (it.identity.as_str(), it.scope.as_str())).collect();
    assert_eq!(repositories, [("acme/all", "global"), ("acme/forge", "role")]);
    assert_eq!(resolution.decisions[0].subject, "repository:acme/all");
}

#[test]
fn overlapping_patterns_of_a_role_are_a_warning() {
    let repo = repo();
    shared(&repo);
    let graph = "roles { role smith { composed-skill \"forge-*\"; composed-skill forge-hot } }";
    repo.write("shared/.agents/roles.kdl", graph);
    let outcome = outcome(&repo, &smith("source shared root=shared"), None);
    let resolution = outcome.value.unwrap();
    assert_eq!(decided(&resolution, "selector:"), ["shadowed selector:forge-hot"]);
    assert!(
        outcome.diagnostics[0].to_string().contains("warning: the composed skill `forge-hot` is named by")
    );
    repo.write("shared/.agents/roles.kdl", "roles { role smith { composed-skill nothing } }");
    refused(&repo, &smith("source shared root=shared"), &["the name `nothing` matches no skill"]);
}

#[test]
fn providers_are_narrowed_and_never_widened() {
    let repo = repo();
    shared(&repo);
    for name in ["x-one", "x-two", "y"] {
        repo.write(&format!("shared/lore/.agents/skills/{name}/SKILL.md"), SKILL);
    }
    let graph = |uses: &str| {
        let text = format!(
            "providers {{ provider lore path=lore {{ skill \"x-*\" }}; provider far }}\nroles {{ role smith {{ {uses} }} }}"
        );
        repo.write("shared/.agents/roles.kdl", &text);
    };
    let request = smith("source shared root=shared");
    graph("use-provider lore");
    let resolution = resolved(&repo, &request);
    assert_eq!(ids(&resolution)[9..], ["x-one", "x-two"]);
    let report = resolution.providers.last().unwrap();
    assert_eq!(
        (report.scope.as_str(), report.category.as_str(), report.skills),
        ("role", "role-provider", 2)
    );
    assert_eq!(report.selector_reason, "`x-*` admitted 2 of 3");
    graph("use-provider lore { skill \"*-two\" }");
    let resolution = resolved(&repo, &request);
    assert_eq!(ids(&resolution)[9..], ["x-two"]);
    assert_eq!(decided(&resolution, "skill:x-one"), ["excluded skill:x-one"]);
    assert!(resolution.providers.last().unwrap().selector_reason.ends_with(" // `*-two` admitted 1 of 2"));
    made(&repo, &resolution);
    graph("use-provider lore { skill y }");
    refused(&repo, &request, &["the name `y` matches no skill"]);
    graph("use-provider far");
    let outcome = outcome(&repo, &request, None);
    let said = outcome.diagnostics[0].to_string();
    assert!(said.starts_with("shared/.agents/roles.kdl:2: warning: the provider `far`"), "{said}");
    let missing = outcome.value.unwrap();
    assert_eq!(decided(&missing, "source:far"), ["excluded source:far"]);
    made(&repo, &missing);
    graph("use-provider far required=#true");
    refused(&repo, &request, &["shared/.agents/roles.kdl:2: error: the provider `far` is required"]);
}

#[test]
fn a_repository_with_patterns_narrows_the_source_of_its_id() {
    let repo = repo();
    shared(&repo);
    for name in ["x-one", "y"] {
        repo.write(&format!("forge/.agents/skills/{name}/SKILL.md"), SKILL);
    }
    let graph = "repositories { repository forge path=\"acme/forge\" { skill \"x-*\" } }\n\
                 roles { role smith { use-repository forge } }";
    repo.write("shared/.agents/roles.kdl", graph);
    let resolution = resolved(&repo, &smith("source forge root=forge; source shared root=shared"));
    assert_eq!(ids(&resolution)[7..], ["x-one", "alpha", "beta"]);
    assert_eq!(decided(&resolution, "skill:y"), ["excluded skill:y"]);
    assert_eq!(resolution.repositories[0].identity, "acme/forge");
    made(&repo, &resolution);
}

#[test]
fn a_declaration_brings_what_it_names() {
    let repo = repo();
    repo.write(
        "lib/s.kdl",
        "source lib { instruction house path=\"house.md\"; skill weld path=\"skills/weld\" }",
    );
    repo.write("lib/house.md", "House rule.\r\n");
    repo.write("lib/skills/weld/SKILL.md", SKILL);
    let resolution = resolved(&repo, &smith("source lib declaration=\"lib/s.kdl\""));
    let instructions: Vec<_> = resolution.instructions.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(instructions, ["personality-invariant", "house"]);
    let made = made(&repo, &resolution);
    assert!(text(&repo, &made, "content/instructions.md").ends_with("\nHouse rule.\r\n"));
    for (text, expected) in [
        ("source other", "declares `other`; the request calls it `lib`"),
        ("source lib { skill a path=\"../x\" }", "leads up with `..`"),
        ("source lib { skill a path=\"/x\" }", "is absolute"),
        ("source lib { skill a path=gone }", "`gone` is not there"),
        ("source lib { skill a path=\"house.md\" }", "is a regular file; expected a folder"),
        ("source lib { rule a path=\"house.md\" }", "knows no `rule`"),
        ("source lib { skill a }", "needs `path"),
        ("source lib { skill a path=skills }", "no regular file `SKILL.md`"),
    ] {
        repo.write("lib/s.kdl", text);
        refused(&repo, &smith("source lib declaration=\"lib/s.kdl\""), &[expected]);
    }
}

#[test]
fn missing_sources() {
    let repo = repo();
    let request = smith("source gone root=gone; source late declaration=\"x/y.kdl\"");
    let outcome = outcome(&repo, &request, None);
    assert_eq!(outcome.diagnostics.len(), 2);
    let resolution = outcome.value.unwrap();
    assert_eq!(
        decided(&resolution, "source:"),
        ["excluded source:gone", "excluded source:late", "selected source:person:ada"]
    );
    let report = &resolution.providers[1];
    assert!(
        report.warning && report.skills == 0 && report.context_bytes == 0 && report.outcome == "excluded"
    );
    made(&repo, &resolution);
    refused(
        &repo,
        &smith("source gone root=gone required=#true"),
        &["r.kdl:1: error: the source `gone` is missing"],
    );
    repo.write("present", "x");
    refused(&repo, &smith("source p root=present"), &["present: error: a regular file; expected a folder"]);
}

#[test]
fn roots_that_are_refused() {
    type Break = fn(&Repo);
    let cases: &[(Break, &str)] = &[
        (
            |repo| repo.write("shared/.agents/skills/empty/x", "x"),
            "skills/empty: error: no regular file `SKILL.md`",
        ),
        (
            |repo| repo.remove("shared/.agents/roles.kdl"),
            ".agents/composed: error: needs `.agents/roles.kdl`",
        ),
        (|repo| repo.write("shared/.agents/composed/file", "x"), "composed/file: error: a regular file"),
        (
            |repo| repo.write("shared/.agents/composed/alpha/COMPOSED.md", "x"),
            "composed/alpha: error: an ordinary skill has this name",
        ),
        (
            |repo| repo.write("shared/.agents/composed/ledger/a/SKILL.md", "x"),
            "composed/ledger/a/SKILL.md: error: a composed skill has no",
        ),
        (
            |repo| repo.write("shared/.agents/roles.kdl", "roles {"),
            "shared/.agents/roles.kdl:1: error: a block is not",
        ),
    ];
    for (breaks, expected) in cases {
        let repo = repo();
        shared(&repo);
        breaks(&repo);
        refused(&repo, &smith("source shared root=shared"), &[expected]);
    }
}

#[cfg(unix)]
#[test]
fn links_are_never_followed() {
    let link = |repo: &Repo, target: &str, path: &str| {
        std::os::unix::fs::symlink(repo.path().join(target), repo.path().join(path)).unwrap();
    };
    let fresh = || {
        let repo = repo();
        shared(&repo);
        repo
    };
    let request = smith("source shared root=shared");
    for (path, expected) in [
        ("shared/.agents/skills/linked", ".agents/skills/linked: error: a symlink"),
        ("shared/.agents/skills/alpha/linked", "alpha/linked: error: a symlink"),
        ("shared/.agents/composed/linked", ".agents/composed/linked: error: a symlink"),
        ("me/roles/smith/linked", "me/roles/smith/linked: error: a symlink"),
    ] {
        let repo = fresh();
        link(&repo, "shared/.agents/skills/beta", path);
        refused(&repo, &request, &[expected]);
    }
    let repo = fresh();
    link(&repo, "shared", "elsewhere");
    refused(
        &repo,
        &smith("source shared root=elsewhere"),
        &["elsewhere: error: a symlink; expected a folder"],
    );
    refused(&repo, &smith("source shared root=\"elsewhere/x\""), &["elsewhere/x: error: a symlink"]);
    let repo = fresh();
    repo.write("shared/.agents/skills/personality-shared/x", "x");
    link(&repo, "me/person.kdl", "shared/.agents/skills/personality-shared/INVARIANT.md");
    refused(&repo, &request, &["personality-shared/INVARIANT.md: error: a symlink"]);
}

#[test]
fn equal_copies_stand_in_the_shadow_and_others_are_refused() {
    let repo = repo();
    shared(&repo);
    let calm = repo.read("me/definitions/skills/personality-calm/SKILL.md");
    let copy = "shared/.agents/skills/personality-calm/SKILL.md";
    let request = smith("source shared root=shared");
    for text in [calm.clone(), calm.replace('\n', "\r\n")] {
        repo.write(copy, &text);
        let resolution = resolved(&repo, &request);
        let expected = ["selected skill:personality-calm", "shadowed skill:personality-calm"];
        assert_eq!(decided(&resolution, "skill:personality-calm"), expected);
        assert_eq!(resolution.providers[1].skills, 4);
        made(&repo, &resolution);
    }
    repo.write(copy, &format!("{calm}!"));
    refused(&repo, &request, &["the skill `personality-calm` of `shared` differs from that of `person:ada`"]);
    let clerk = request.replace("smith", "clerk");
    repo.write(copy, &calm);
    repo.write("shared/.agents/skills/personality-keen/SKILL.md", "another\n");
    let resolution = resolved(&repo, &clerk);
    let expected = ["excluded skill:personality-keen", "excluded skill:personality-keen"];
    assert_eq!(decided(&resolution, "skill:personality-keen"), expected);
}

#[test]
fn the_invariant_may_come_from_a_root() {
    let repo = repo();
    shared(&repo);
    let request = smith("source shared root=shared");
    repo.write("shared/.agents/skills/personality-shared/INVARIANT.md", "Be true.\r\n");
    let shadowed = resolved(&repo, &request);
    let expected =
        ["selected instruction:personality-invariant", "shadowed instruction:personality-invariant"];
    assert_eq!(decided(&shadowed, "instruction:"), expected);
    repo.remove("me/definitions/INVARIANT.md");
    assert_eq!(decided(&resolved(&repo, &request), "instruction:"), expected[..1]);
}

#[test]
fn a_source_may_not_be_called_like_the_package() {
    let repo = repo();
    shared(&repo);
    refused(&repo, &smith("source \"person:ada\" root=shared"), &["has the id of the person package"]);
}

#[test]
fn the_base_leads_and_its_cards_are_gone() {
    let repo = repo();
    let base = Base {
        render: "native".to_owned(),
        text: b"# Project\n\nRules.\n\n# The Smith\n\nold\n\n# Clerk\n\nold\n".to_vec(),
        common: Digest::of(b"common"),
    };
    let outcome = outcome(&repo, &smith("base native"), Some(&base));
    let resolution = outcome.value.unwrap();
    let made = made(&repo, &resolution);
    let instructions = text(&repo, &made, "content/instructions.md");
    assert!(instructions.starts_with("# Project\n\nRules.\n\n# Role instructions\n"));
    assert_eq!(
        (instructions.matches("# The Smith\n").count(), instructions.matches("\nold\n").count()),
        (1, 0)
    );
    let decision = resolution.decisions.iter().find(|it| it.subject == "instruction:operating-base").unwrap();
    assert!(decision.reason.contains(&Digest::of(&base.text).to_string()), "{}", decision.reason);
    assert!(decision.reason.contains(&base.common.to_string()), "{}", decision.reason);
    refused(&repo, &smith("base native"), &["was not handed in"]);
}

#[test]
fn nothing_of_the_machine_is_in_a_tree() {
    let repo = repo();
    shared(&repo);
    let request = smith("source shared root=shared; source gone root=gone");
    let one = made(&repo, &resolved(&repo, &request));
    let other = self::repo();
    shared(&other);
    assert_eq!(made(&other, &resolved(&other, &request)).key, one.key);
    let place = repo.path().to_str().unwrap();
    let files: BTreeSet<_> = repo.files().into_iter().filter(|file| file.starts_with("out/")).collect();
    assert!(files.len() > 10 && files.iter().all(|file| !repo.read(file).contains(place)));
    let why = describe(&RealDisk, &one.folder).unwrap().why("role:smith").unwrap();
    assert!(why.contains("the request asks for this role"), "{why}");
}

/// Sources below `sub`, each with something wrong.
const WRONG: &str = r#"
    //- sub/s/.agents/skills/one/SKILL.md
    x
    //- sub/s/.agents/roles.kdl
    providers {
        provider near path="p" { skill "z*" }
        provider far
    }
    roles {
        role maker {
            use-provider near
        }
        role reviewer {
            composed-skill "c*"
        }
        role investigator {
            use-provider far required=#true
        }
    }
    //- sub/s/p/.agents/skills/two/SKILL.md
    x
    //- sub/d.kdl
    source d {
        skill "a/b" path="s"
        skill empty path="s/.agents"
    }
    //- sub/i.kdl
    source i {
        instruction personality-invariant path="own.md"
    }
    //- sub/own.md
    Mine.
    //- sub/me/person.kdl
    person 1
    //- sub/folder/x
    x
    "#;

/// What is wrong is told with the file as its user calls it, and with its line.
#[test]
fn faults_say_where() {
    let repo = Repo::without_git(WRONG);
    let check = |request: &str, expected: &[&str]| {
        let text = format!("compose {{\n{request}\n}}");
        let request = Request::read("sub/r.kdl", text.as_bytes()).value.unwrap();
        let outcome = resolve(&RealDisk, &request, &repo.path().join("sub"), None);
        let shown: Vec<_> = outcome.diagnostics.iter().map(ToString::to_string).collect();
        let starts = shown.iter().zip(expected).all(|(shown, expected)| shown.starts_with(expected));
        assert!(starts && shown.len() == expected.len() && outcome.value.is_none(), "{shown:#?}");
    };
    let s = "delivery compiled\nsource s root=s";
    check(
        &format!("role maker\n{s}"),
        &["sub/s/.agents/roles.kdl:7: error: the source `near`: the pattern `z*`"],
    );
    check(&format!("role reviewer\n{s}"), &["sub/s/.agents/roles.kdl:9: error: the composed skills of `s`"]);
    check(
        &format!("role investigator\n{s}"),
        &["sub/s/.agents/roles.kdl:13: error: the provider `far` is req"],
    );
    let maker = "role maker\ndelivery compiled\n";
    check(
        &format!("{maker}source d declaration=\"d.kdl\""),
        &["sub/d.kdl:2: error: `a/b` has a slash", "sub/s/.agents: error: no regular file `SKILL.md` in it"],
    );
    check(
        &format!("{maker}source i declaration=\"i.kdl\""),
        &["sub/r.kdl:4: error: the instruction `personality-inv"],
    );
    check(
        &format!("{maker}source \"roster:cantus\" root=s"),
        &["sub/r.kdl:4: error: the source `roster:cantus` has"],
    );
    check(&format!("{maker}source con root=s"), &["sub/r.kdl:4: error: the source `con` can have no folder"]);
    let long = "é".repeat(50);
    check(
        &format!("{maker}source {long} root=s"),
        &[&format!("sub/r.kdl:4: error: the source `{long}` can have no")],
    );
    check(&format!("{maker}person-source me"), &["sub/me/person.kdl:1: error: `person` has an argument"]);
    check(&format!("{maker}source f root=folder"), &["sub/folder/.agents/skills: error: no skill in it"]);
    check("delivery compiled\nrole nobody", &["sub/r.kdl:3: error: `roster:cantus` has no role"]);
    check(
        &format!("{maker}boundary-omit merging\nboundary-omit rewriting x"),
        &["sub/r.kdl:5: error: the boundary `rewriting`", "sub/r.kdl:5: error: the boundary `x`"],
    );
}
