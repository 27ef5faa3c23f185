//! Names that change places while a command runs: a second name never opens what the first one hides.

use crate::world::{World, assert_has};

use super::escapes::attempt;

#[tokio::test]
async fn hard_links_swapped_while_it_runs() {
    let Some(world) = World::in_sandbox().await else { return };
    world.write(".env", "THE-KEY");
    world.write(".git/config", "real");
    world.write("plain", "plain\n");
    let script = "for i in $(seq 100); do ln -f plain x; ln -f .env x; ln -f .git/config x; done 2> why &
        for i in $(seq 100); do cat x; echo evil > x; done 2> /dev/null
        wait; mv .env aside; mv plain .env; ln -f plain .git/config; tail -n 1 why; cat .env aside x";
    let output = attempt(&world, script).await;
    assert!(!output.contains("THE-KEY"), "{output}");
    assert_has(&output, "The command ran in a sandbox: ");
    assert_eq!((world.text(".env"), world.text(".git/config")), ("THE-KEY".into(), "real".into()));
}
