//! Every option, and what becomes of it.

use std::time::Duration;

use serde_json::{Value, json};

use super::*;
use crate::hook::HookEvent;
use crate::mcp::{McpServer, McpServerConfig};
use crate::permission::{DialogAnswer, ElicitationAnswer, PermissionResult};
use crate::{HookMatcher, TranscriptBatch};

/// The command line of a session without options.
const BASE: [&str; 3] = ["--output-format=stream-json", "--verbose", "--input-format=stream-json"];

fn new() -> Options {
    Options::new()
}

#[test]
fn tools_become_flags() {
    flags(new(), &[]);
    flags(new().tools(["Read", "Bash"]), &["--tools=Read,Bash"]);
    flags(new().tools([""; 0]), &["--tools="]);
    flags(new().default_tools(), &["--tools=default"]);
    flags(new().allowed_tools(["Read", "Bash(ls:*)"]), &["--allowedTools=Read,Bash(ls:*)"]);
    flags(new().disallowed_tools(["Bash(rm:*)"]), &["--disallowedTools=Bash(rm:*)"]);
    flags(new().skills(SkillSelection::All), &["--allowedTools=Skill"]);
    flags(
        new().allowed_tools(["Read"]).skills(SkillSelection::Only(vec!["pdf".into()])),
        &["--allowedTools=Read,Skill(pdf)"],
    );
    flags(new().plugin("/p"), &["--plugin-dir=/p"]);
    let quiet = SdkPluginConfig { path: "/p".into(), without_mcp: true };
    flags(new().plugin(quiet), &["--plugin-dir-no-mcp=/p"]);
}

#[test]
fn mcp_servers_become_flags_unless_they_run_here() {
    let stdio = McpServerConfig::Stdio {
        command: "server".into(),
        args: vec!["-x".into()],
        env: BTreeMap::new(),
    };
    flags(
        new().mcp_server("files", stdio),
        &[
            r#"--mcp-config={"mcpServers":{"files":{"type":"stdio","command":"server","args":["-x"],"env":{}}}}"#,
        ],
    );
    let http = McpServerConfig::Http { url: "http://x".into(), headers: BTreeMap::new() };
    flags(
        new().mcp_server("web", http),
        &[r#"--mcp-config={"mcpServers":{"web":{"type":"http","url":"http://x","headers":{}}}}"#],
    );
    flags(new().mcp_config_file("/mcp.json"), &["--mcp-config=/mcp.json"]);
    flags(new().strict_mcp_config(), &["--strict-mcp-config"]);
    let here = new().sdk_mcp_server(McpServer::new("here", "1").timeout(Duration::from_secs(9)));
    flags(here.clone(), &[]);
    initialize(
        here,
        json!({
            "sdkMcpServers": ["here"],
            "sdkMcpServerConfigs": { "here": { "timeout": 9000 } },
            "systemPrompt": [""],
        }),
    );
}

#[test]
fn permissions_become_flags() {
    flags(new().permission_mode(PermissionMode::Plan), &["--permission-mode=plan"]);
    flags(
        new().can_use_tool(async |_| PermissionResult::allow()),
        &["--permission-mode=default", "--permission-prompt-tool=stdio"],
    );
    flags(
        new()
            .can_use_tool(async |_| PermissionResult::allow())
            .permission_mode(PermissionMode::AcceptEdits),
        &["--permission-mode=acceptEdits", "--permission-prompt-tool=stdio"],
    );
    flags(
        new()
            .permission_mode(PermissionMode::BypassPermissions)
            .allow_dangerously_skip_permissions(),
        &["--permission-mode=bypassPermissions", "--allow-dangerously-skip-permissions"],
    );
    flags(new().permission_prompt_tool("mcp__a__b"), &["--permission-prompt-tool=mcp__a__b"]);
    flags(new().never_prompt(), &["--permission-prompts=none"]);
}

#[test]
fn the_model_becomes_flags() {
    flags(new().model("opus"), &["--model=opus"]);
    flags(new().fallback_model("a").fallback_model("b"), &["--fallback-model=a,b"]);
    flags(new().beta("x").beta("y"), &["--betas=x,y"]);
    flags(new().effort(EffortLevel::XHigh), &["--effort=xhigh"]);
    flags(new().thinking(ThinkingConfig::Adaptive), &["--thinking=adaptive"]);
    flags(new().thinking(ThinkingConfig::Disabled), &["--thinking=disabled"]);
    flags(
        new().thinking(ThinkingConfig::Enabled { budget_tokens: 8000 }),
        &["--max-thinking-tokens=8000"],
    );
    flags(new().thinking(ThinkingConfig::Enabled { budget_tokens: 0 }), &["--thinking=disabled"]);
    flags(new().thinking_display(ThinkingDisplay::Summarized), &["--thinking-display=summarized"]);
    flags(new().thinking_display(ThinkingDisplay::Omitted), &["--thinking-display=omitted"]);
    flags(new().max_turns(3), &["--max-turns=3"]);
    flags(new().max_budget_usd(0.5), &["--max-budget-usd=0.5"]);
    flags(new().task_budget(1000), &["--task-budget=1000"]);
    flags(new().agent("reviewer"), &["--agent=reviewer"]);
    flags(new().system_prompt(SystemPrompt::File("/p".into())), &["--system-prompt-file=/p"]);
}

#[test]
fn the_conversation_becomes_flags() {
    let id = "0197b3a6-2b6f-7d20-b3e1-5f2c7a9d1e44";
    flags(new().continue_last(), &["--continue"]);
    flags(new().resume("abc"), &["--resume=abc"]);
    flags(new().session_id(id), &[&format!("--session-id={id}")]);
    flags(new().resume("abc").fork_session(), &["--resume=abc", "--fork-session"]);
    flags(
        new().resume("abc").resume_session_at("m").resume_drops_turn(""),
        &["--resume=abc", "--resume-session-at=m", "--resume-drops-turn="],
    );
    flags(new().no_session_persistence(), &["--no-session-persistence"]);
    flags(new().transcript_store(Nowhere), &["--session-mirror"]);
    flags(new().include_partial_messages(), &["--include-partial-messages"]);
    flags(new().include_hook_events(), &["--include-hook-events"]);
}

#[test]
fn the_process_becomes_flags() {
    flags(new().settings(SettingsOverride::File("/s.json".into())), &["--settings=/s.json"]);
    flags(
        new()
            .settings(SettingsOverride::Json(map(json!({ "a": 1, "sandbox": { "b": 2 } }))))
            .sandbox(map(json!({ "enabled": true }))),
        &[r#"--settings={"a":1,"sandbox":{"b":2,"enabled":true,"failIfUnavailable":true}}"#],
    );
    flags(
        new().sandbox(map(json!({ "enabled": false }))),
        &[r#"--settings={"sandbox":{"enabled":false}}"#],
    );
    flags(new().managed_settings(json!({ "a": 1 })), &[r#"--managed-settings={"a":1}"#]);
    flags(new().setting_sources([]), &["--setting-sources="]);
    flags(
        new().setting_sources([SettingSource::User, SettingSource::Project]),
        &["--setting-sources=user,project"],
    );
    flags(new().add_dir("/a").add_dir("/b"), &["--add-dir=/a", "--add-dir=/b"]);
    flags(new().project_config_root("/r"), &["--project-config-root=/r"]);
    flags(new().debug(""), &["--debug"]);
    flags(new().debug("api"), &["--debug=api"]);
    flags(new().debug_file("/d"), &["--debug-file=/d"]);
    flags(
        new().extra_arg("new-flag", None).extra_arg("other", Some("v")),
        &["--new-flag", "--other=v"],
    );
}

#[test]
fn a_value_that_starts_with_a_dash_stays_a_value() {
    flags(
        new().resume("--dangerously-skip-permissions"),
        &["--resume=--dangerously-skip-permissions"],
    );
    flags(new().model("-p"), &["--model=-p"]);
    flags(new().extra_arg("x", Some("--y")), &["--x=--y"]);
}

#[test]
fn what_is_long_or_live_travels_in_initialize() {
    initialize(new(), json!({ "systemPrompt": [""] }));
    initialize(new().system_prompt("Be brief."), json!({ "systemPrompt": ["Be brief."] }));
    let with_boundary =
        SystemPrompt::Text(vec!["a".into(), SystemPrompt::DYNAMIC_BOUNDARY.into(), "b".into()]);
    initialize(
        new().system_prompt(with_boundary),
        json!({ "systemPrompt": ["a", "__SYSTEM_PROMPT_DYNAMIC_BOUNDARY__", "b"] }),
    );
    let preset =
        SystemPrompt::ClaudeCode { append: Some("x".into()), exclude_dynamic_sections: true };
    initialize(
        preset_only().system_prompt(preset),
        json!({ "appendSystemPrompt": "x", "excludeDynamicSections": true }),
    );
    initialize(preset_only(), json!({}));
    let base = preset_only;
    initialize(base().system_prompt_snapshot(true), json!({ "systemPromptSnapshot": true }));
    initialize(base().plan_mode_instructions("x"), json!({ "planModeInstructions": "x" }));
    initialize(base().tool_alias("a", "b"), json!({ "toolAliases": { "a": "b" } }));
    initialize(base().title("T"), json!({ "title": "T" }));
    initialize(
        base().output_schema(json!({ "type": "object" })),
        json!({ "jsonSchema": { "type": "object" } }),
    );
    initialize(base().skills(SkillSelection::Only(vec!["a".into()])), json!({ "skills": ["a"] }));
    initialize(base().prompt_suggestions(), json!({ "promptSuggestions": true }));
    initialize(base().agent_progress_summaries(), json!({ "agentProgressSummaries": true }));
    initialize(base().forward_subagent_text(), json!({ "forwardSubagentText": true }));
    initialize(base().per_task_stop(), json!({ "perTaskStopAffordance": true }));
    initialize(
        base().on_user_dialog(["x"], async |_| DialogAnswer::Cancelled),
        json!({ "supportedDialogKinds": ["x"] }),
    );
    initialize(base().on_elicitation(async |_| ElicitationAnswer::Cancel), json!({}));
    initialize(
        base().hook(HookMatcher::logging(HookEvent::Stop, |_| {})),
        json!({ "hooks": { "Stop": [{ "matcher": null, "hookCallbackIds": ["hook_0"] }] } }),
    );
}

#[test]
fn a_subagent_says_only_what_was_said_about_it() {
    let agent = AgentDefinition {
        disallowed_tools: Some(vec!["Bash".into()]),
        max_turns: Some(3),
        permission_mode: Some(PermissionMode::Plan),
        effort: Some(EffortLevel::High),
        ..AgentDefinition::new("reviews", "You review.")
    };
    initialize(
        preset_only().subagent("reviewer", agent),
        json!({ "agents": { "reviewer": {
            "description": "reviews", "prompt": "You review.", "disallowedTools": ["Bash"],
            "maxTurns": 3, "effort": "high", "permissionMode": "plan",
        } } }),
    );
}

#[test]
fn the_environment_is_inherited_without_what_speaks_of_another_session() {
    let outer = || -> EnvironmentVariables {
        [("PATH", "/bin"), ("CLAUDECODE", "1"), ("NODE_OPTIONS", "x"), ("TRACEPARENT", "t")]
            .into_iter()
            .collect()
    };
    let version = env!("CARGO_PKG_VERSION");
    let own = [
        ("CLAUDE_AGENT_SDK_VERSION", version),
        ("CLAUDE_CODE_ENTRYPOINT", "sdk-rs"),
        ("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1"),
        ("CLAUDE_CODE_SDK_READS_STARTUP_MARKS", "1"),
    ];
    let environment = |options: Options, also: &[(&str, &str)]| {
        let expected: EnvironmentVariables = own.iter().chain(also).copied().collect();
        assert_eq!(pairs(&options.variables(outer())), pairs(&expected));
    };
    environment(new(), &[("PATH", "/bin")]);
    environment(new().clean_env(), &[]);
    environment(new().clean_env().env("A", "b"), &[("A", "b")]);
    environment(new().clean_env().env("CLAUDECODE", "1"), &[("CLAUDECODE", "1")]);
    environment(
        new().clean_env().env("CLAUDE_CODE_ENTRYPOINT", "mine"),
        &[("CLAUDE_CODE_ENTRYPOINT", "mine")],
    );
    environment(
        new().clean_env().file_checkpointing(),
        &[("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true")],
    );
    environment(new().clean_env().client_app("a/1"), &[("CLAUDE_AGENT_SDK_CLIENT_APP", "a/1")]);
    environment(
        new().clean_env().question_preview_format("html"),
        &[("CLAUDE_CODE_QUESTION_PREVIEW_FORMAT", "html")],
    );
    environment(new().clean_env().cwd("/w"), &[("PWD", "/w")]);
    let mine = new().clean_env().env("claude_code_sdk_reads_session_state", "0");
    assert!(mine.variables(outer()).get("CLAUDE_CODE_SDK_READS_SESSION_STATE").is_none());
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    let guarded = || new().can_use_tool(async |_| PermissionResult::allow());
    let bypass = || PermissionMode::BypassPermissions;
    refused(guarded().permission_mode(bypass()), &OptionsError::CallbackWithBypass);
    refused(guarded().allow_dangerously_skip_permissions(), &OptionsError::CallbackWithBypass);
    refused(
        guarded().extra_arg("dangerously-skip-permissions", None),
        &OptionsError::CallbackWithBypass,
    );
    refused(
        guarded().extra_arg("permission-mode", Some("bypassPermissions")),
        &OptionsError::CallbackWithBypass,
    );
    refused(new().permission_mode(bypass()), &OptionsError::BypassNotAllowed);
    refused(
        guarded().permission_prompt_tool("x"),
        &OptionsError::CallbackWith("permission_prompt_tool"),
    );
    refused(guarded().never_prompt(), &OptionsError::CallbackWith("never_prompt"));
    refused(new().model("a").fallback_model("a"), &OptionsError::FallbackIsModel("a".into()));
    let id = "0197b3a6-2b6f-7d20-b3e1-5f2c7a9d1e44";
    refused(new().session_id("x"), &OptionsError::SessionId("x".into()));
    refused(new().session_id(id).resume("y"), &OptionsError::SessionIdOfResumed);
    assert_eq!(new().session_id(id).resume("y").fork_session().check(), Ok(()));
    refused(
        new().settings(SettingsOverride::File("/s".into())).sandbox(Map::new()),
        &OptionsError::SandboxWithFile,
    );
    refused(
        new().transcript_store(Nowhere).no_session_persistence(),
        &OptionsError::StoreWith("no_session_persistence"),
    );
    refused(
        new().transcript_store(Nowhere).file_checkpointing(),
        &OptionsError::StoreWith("file_checkpointing"),
    );
    let other = || McpServerConfig::Other(json!({}));
    refused(new().mcp_config_file("/m").mcp_server("a", other()), &OptionsError::TwoMcpConfigs);
    refused(
        new().sdk_mcp_server(McpServer::new("a", "1")).mcp_server("a", other()),
        &OptionsError::TwoServers("a".into()),
    );
    refused(new().model("a\0b"), &OptionsError::Nul);
    refused(new().env("A", "\0"), &OptionsError::Nul);
}

#[test]
fn a_skill_has_a_name_that_stays_one_name() {
    for bad in ["", "*", "a,b", "a(b)", "x:*", "/x", "\\\\x", "x\\", " x", "x\n", "\u{feff}x"] {
        let skills = SkillSelection::Only(vec![bad.into()]);
        refused(new().skills(skills), &OptionsError::SkillName(bad.into()));
    }
    assert_eq!(new().skills(SkillSelection::Only(vec!["my-plugin:pdf".into()])).check(), Ok(()));
}

#[test]
fn a_tool_allowed_as_a_whole_hides_the_callback() {
    let allowed = ["Read", "Glob()", "Grep(*)", "Bash(ls:*)"];
    assert_eq!(new().allowed_tools(allowed).shadowed_tools(), [""; 0]);
    let guarded =
        new().can_use_tool(async |_| PermissionResult::allow()).skills(SkillSelection::All);
    assert_eq!(guarded.allowed_tools(allowed).shadowed_tools(), ["Read", "Glob", "Grep", "Skill"]);
}

struct Nowhere;

impl TranscriptStore for Nowhere {
    fn append(
        &self,
        _: TranscriptBatch,
    ) -> futures_util::future::BoxFuture<'_, Result<(), String>> {
        Box::pin(std::future::ready(Ok(())))
    }
}

fn preset_only() -> Options {
    new().system_prompt(SystemPrompt::claude_code())
}

#[expect(clippy::needless_pass_by_value, reason = "a table of cases")]
fn map(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

fn pairs(variables: &EnvironmentVariables) -> Vec<(&std::ffi::OsString, &std::ffi::OsString)> {
    variables.iter().collect()
}

#[expect(clippy::needless_pass_by_value, reason = "a table of cases")]
fn flags(options: Options, expected: &[&str]) {
    let flags = options.flags();
    let flags: Vec<_> = flags.iter().map(|flag| flag.to_str().unwrap()).collect();
    assert_eq!(flags, [&BASE, expected].concat());
}

#[expect(clippy::needless_pass_by_value, reason = "a table of cases")]
fn initialize(options: Options, expected: Value) {
    assert_eq!(Value::Object(options.initialize_fields()), expected);
}

#[expect(clippy::needless_pass_by_value, reason = "a table of cases")]
fn refused(options: Options, error: &OptionsError) {
    assert_eq!(options.check().as_ref(), Err(error));
}
