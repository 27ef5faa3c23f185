//! Known build, test and format commands: what every project runs all day.
//!
//! They run the project's code, so they are not harmless; but they are expected, and what they run
//! lies in the workspace for everyone to see. A flag that could bring code or settings from
//! elsewhere makes it any other program again, so flags are listed, and values are plain.

use crate::program_verbs::is_outward_name;

/// Commands, by their first words. What is before `:` must match word by word; after it come further
/// flags that are harmless for this command, those with `=` with a plain value.
const COMMANDS: &[&str] = &[
    "cargo build: -p= --package= --bin= --example= --features= --no-default-features --profile= -j= --jobs=",
    "cargo check: --message-format= -p= --package= --bin= --example= --features= --no-default-features --profile= -j= --jobs=",
    "cargo clippy: -p= --package= --bin= --features= --no-default-features -j= --no-deps -D= -W= -A=",
    "cargo test: -p= --package= --bin= --test= --features= --no-default-features --doc --no-fail-fast -j= --exact --nocapture --test-threads= --ignored",
    "cargo nextest run: -p= --package= --bin= --test= --features= --no-fail-fast -j= -E= --no-capture --run-ignored=",
    "cargo bench: -p= --package= --bench= --features=",
    "cargo doc: -p= --package= --no-deps --features=",
    "cargo fmt: -p= --package= --check",
    "npm test: -w= --workspace= --workspaces --if-present --silent",
    "npm t:",
    "npm run: -w= --workspace= --workspaces --if-present --silent --fix",
    "npm run-script: -w= --workspace= --if-present --silent",
    "pnpm test: -r --recursive",
    "pnpm run: -r --recursive --if-present --fix",
    "yarn test:",
    "yarn run: --fix",
    "yarn build:",
    "yarn lint: --fix",
    "bun test: -t= --bail --only",
    "bun run:",
    "deno test:",
    "deno lint:",
    "deno fmt: --check",
    "go build: -race -p=",
    "go test: -race -run= -bench= -count= -timeout= -short -cover -p= -parallel= -failfast",
    "go vet:",
    "go fmt: -n",
    "gofmt: -l -d -w -s",
    "pytest: -m= -n= --maxfail= --lf --last-failed --ff -rA -ra -vv --tb= --durations= --cov --co --collect-only --no-header",
    "python -m pytest: -m= -n= --maxfail= --lf --ff -vv --tb= --durations= --cov",
    "python3 -m pytest: -m= -n= --maxfail= --lf --ff -vv --tb= --durations= --cov",
    "python -m unittest: -f --failfast -b",
    "python3 -m unittest: -f --failfast -b",
    "python -m mypy: --strict",
    "python3 -m mypy: --strict",
    "ruff check: --output-format= --fix --select= --ignore= --diff",
    "ruff format: --check --diff",
    "mypy: --strict --pretty",
    "black: --check --diff -l=",
    "isort: --check --check-only --diff",
    "flake8: --count --statistics",
    "pyright: --outputjson",
    "node_modules/.bin/tsc: --noEmit --pretty --strict",
    "tsc: --noEmit -b --build -w --pretty --strict",
    "eslint: --fix --ext= --max-warnings= --cache --format=",
    "prettier: --check --write -c -w -l --list-different",
    "biome check: --write",
    "biome lint: --write",
    "biome format: --write",
    "jest: -t= --testNamePattern= -i --runInBand --ci --bail -u --silent --no-cache",
    "vitest: -t= --run --bail= --silent",
    "vitest run: -t= --bail= --silent",
    "make: -j= -k -s -B -j --jobs= --silent --keep-going",
    "just: --list -l",
    "ninja: -j= -C=",
    "cmake --build: -j= --parallel= --target= --config=",
    "ctest: -j= -R= -E= --output-on-failure",
    "mvn test: -o -B -DskipTests",
    "mvn compile: -o -B",
    "mvn verify: -o -B -DskipTests",
    "mvn package: -o -B -DskipTests",
    "gradle test: --offline --tests= --info --stacktrace",
    "gradle build: --offline --info --stacktrace",
    "gradle check: --offline --info --stacktrace",
    "./gradlew test: --offline --tests= --info --stacktrace",
    "./gradlew build: --offline --info --stacktrace",
    "./gradlew check: --offline --info --stacktrace",
    "./mvnw test: -o -B",
    "./mvnw verify: -o -B",
    "dotnet build: -c= --no-restore --configuration=",
    "dotnet test: -c= --no-restore --no-build --configuration=",
    "dotnet format: --verify-no-changes",
    "rake test:",
    "rake spec:",
    "rspec: -f= --format= --fail-fast",
    "bundle exec rspec: -f= --format= --fail-fast",
    "bundle exec rake test:",
    "mix test: --trace --failed --cover",
    "mix compile:",
    "mix format: --check-formatted",
    "swift build: -c=",
    "swift test: -c=",
    "zig build:",
    "zig fmt: --check",
    "cabal build:",
    "cabal test:",
    "stack build:",
    "stack test:",
    "tox: -e= -p",
    "nox: -s= -l",
    "shellcheck: -s= -S= -f=",
];

/// Flags that say how much is built, tested or told, whatever the program.
const EVERYWHERE: &[&str] = &[
    "-q",
    "-v",
    "-x",
    "-s",
    "--quiet",
    "--verbose",
    "--release",
    "--workspace",
    "--all",
    "--all-targets",
    "--all-features",
    "--lib",
    "--bins",
    "--tests",
    "--examples",
    "--benches",
    "--no-run",
    "--locked",
    "--offline",
    "--frozen",
    "--keep-going",
    "--color",
    "--no-color",
    "--coverage",
    "--watch=false",
    "--watchAll=false",
    "-k=",
    "--filter=",
    "--color=",
    "--",
];

/// Returns whether these words are a known build, test or format command and nothing more.
pub(super) fn is_build_command(argv: &[String]) -> bool {
    let Some(program) = argv.first() else { return false };
    let is_of_program = |command: &&&str| {
        command.strip_prefix(program.as_str()).is_some_and(|rest| rest.starts_with([' ', ':']))
    };
    COMMANDS.iter().filter(is_of_program).any(|command| {
        let (words, flags) = command.split_once(':').unwrap_or((command, ""));
        let words: Vec<_> = words.split(' ').collect();
        let rest = argv.strip_prefix_of(&words);
        rest.is_some_and(|rest| {
            are_plain(rest, flags) && has_target(&words, rest) && names_usual_work(&words, rest)
        })
    })
}

/// What scripts and targets of a project are usually called that build it, test it or run it here.
const USUAL: &[&str] = &[
    "all",
    "audit",
    "bench",
    "benchmark",
    "build",
    "bundle",
    "check",
    "ci",
    "clean",
    "codegen",
    "compile",
    "cov",
    "coverage",
    "debug",
    "dev",
    "doc",
    "docs",
    "e2e",
    "eslint",
    "fix",
    "fmt",
    "format",
    "gen",
    "generate",
    "integration",
    "lint",
    "prettier",
    "preview",
    "serve",
    "spec",
    "start",
    "storybook",
    "style",
    "test",
    "tests",
    "tsc",
    "type",
    "typecheck",
    "types",
    "unit",
    "validate",
    "verify",
    "vet",
    "watch",
];

/// Whether what a runner is told to run is called as builds and tests are: a script can do anything,
/// and `deploy` says that it does.
fn names_usual_work(words: &[&str], rest: &[String]) -> bool {
    let mut named = rest.iter().map(String::as_str).filter(|word| !word.starts_with('-'));
    match words {
        ["npm" | "pnpm" | "yarn" | "bun", "run" | "run-script"] | ["just"] => {
            named.next().is_none_or(is_usual)
        }
        ["make"] => named.all(|word| is_usual(word) || word.bytes().all(|b| b.is_ascii_digit())),
        ["tox" | "nox" | "ninja"] | ["cmake", "--build"] => {
            !rest.iter().any(|it| is_outward_name(it))
        }
        _ => true,
    }
}

fn is_usual(name: &str) -> bool {
    let first = segments(name).next().unwrap_or_default();
    USUAL.contains(&first.to_lowercase().as_str()) && !is_outward_name(name)
}

fn segments(name: &str) -> impl Iterator<Item = &str> {
    name.split([':', '-', '_', '.', '/', '='])
}

trait ArgvExt {
    fn strip_prefix_of(&self, words: &[&str]) -> Option<&[String]>;
}

impl ArgvExt for [String] {
    fn strip_prefix_of(&self, words: &[&str]) -> Option<&[String]> {
        let (head, rest) = self.split_at_checked(words.len())?;
        head.iter().eq(words.iter()).then_some(rest)
    }
}

/// `npm run` names one of the project's own scripts, and without a name it lists them.
fn has_target(words: &[&str], rest: &[String]) -> bool {
    let runs = words.last().is_some_and(|word| matches!(*word, "run" | "run-script" | "--build"));
    let nextest = words.contains(&"nextest") || words.contains(&"vitest");
    !runs || nextest || rest.first().is_some_and(|word| !word.starts_with('-'))
}

fn are_plain(args: &[String], flags: &str) -> bool {
    let listed = |flag: &str| {
        EVERYWHERE.contains(&flag) || flags.split(' ').any(|it| !it.is_empty() && it == flag)
    };
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let fits = if !arg.starts_with('-') {
            is_plain(arg)
        } else if listed(arg) {
            true
        } else if listed(&format!("{arg}=")) {
            args.next().is_some_and(|value| is_plain(value))
        } else {
            // `--jobs=8`, `-j8`
            let short =
                || arg.split_at_checked(2).filter(|(_, n)| n.bytes().all(|b| b.is_ascii_digit()));
            let attached = arg.split_once('=').or_else(short);
            attached.is_some_and(|(flag, value)| listed(&format!("{flag}=")) && is_plain(value))
        };
        if !fits {
            return false;
        }
    }
    true
}

/// A name, a number or a path that stays below: no variable of `make`, no address, no `..`.
fn is_plain(word: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "_-./:,*@ ()[]".contains(c);
    let leaves =
        word.starts_with(['-', '/', '~', '@', '*']) || word.split('/').any(|it| it == "..");
    !word.is_empty() && word.chars().all(plain) && !leaves && !word.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builds_and_tests_are_known_by_their_exact_words() {
        for command in [
            "cargo build",
            "cargo test --workspace -q",
            "cargo test -p core shell::tests -- --nocapture",
            "cargo clippy --all-targets -- -D warnings",
            "cargo nextest run -p a",
            "cargo fmt --check",
            "npm test",
            "npm run lint",
            "npm run test:unit -- --coverage",
            "pnpm run build",
            "yarn test",
            "go test ./... -run TestX",
            "go vet ./...",
            "pytest -k foo -x tests/test_a.py",
            "python -m pytest -q",
            "ruff check src",
            "tsc --noEmit",
            "eslint src --fix",
            "make",
            "make -j8",
            "make test",
            "just check",
            "mvn test -o",
            "./gradlew test --tests a.B",
            "dotnet build",
            "prettier --check src",
            "ctest --output-on-failure",
            "cmake --build build",
            "tox -e py311",
            "npm run dev",
            "npm run start",
            "npm run build:css",
            "npm run lint -- src/deploy",
            "pnpm run typecheck",
            "make -j 8 all",
            "make build/app.o",
            "just test-unit",
        ] {
            assert!(is(command), "{command}");
        }
    }

    #[test]
    fn what_brings_code_or_settings_from_elsewhere_is_any_program() {
        for command in [
            "cargo install x",
            "cargo run",
            "cargo publish",
            "cargo test --config x=y",
            "cargo build --manifest-path ../x/Cargo.toml",
            "cargo +nightly build",
            "npm install",
            "npm ci",
            "npm exec x",
            "npm run",
            "npm publish",
            "npm run x --prefix ../y",
            "npm test --script-shell=./x",
            "pytest -c ../x.ini",
            "pytest -p evil",
            "pytest /etc",
            "pytest ../x",
            "pytest --rootdir=/",
            "make -f x",
            "make CC=./x",
            "make --eval=x",
            "make -C /",
            "eslint --config x .",
            "eslint --rulesdir x",
            "prettier --plugin=x .",
            "jest --config=x",
            "jest --globalSetup=x",
            "go test -exec ./x",
            "go build -toolexec ./x",
            "go run .",
            "tsc -p ../x",
            "node x.js",
            "deno run x",
            "mvn -f x test",
            "gradle -I x test",
            "python -m http.server",
            "python x.py",
            "bun x",
            "yarn dlx x",
            "mvn exec:java",
            "npm",
            "",
            "/usr/bin/make",
            "npm run build; touch x",
            "ruff check --config x",
            "npm run deploy:production",
            "npm run drop-database",
            "npm run test:deploy",
            "npm run build:production",
            "npm run anything",
            "pnpm run release",
            "yarn run db:reset",
            "bun run migrate",
            "make deploy",
            "make test deploy",
            "make all_push",
            "make install",
            "just ship",
            "cmake --build build --target install",
            "tox -e release",
        ] {
            assert!(!is(command), "{command}");
        }
    }

    fn is(command: &str) -> bool {
        let argv: Vec<_> = command.split(' ').map(str::to_owned).collect();
        is_build_command(&argv)
    }
}
