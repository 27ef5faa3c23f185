//! What consent needs, from the flags and the surroundings: where rules are, and which server asks.

use std::path::Path;

use countersign_client::consent::{
    ConsentAnswer, ConsentClient, ConsentClientError, ConsentRequest, LocalRulesPlace,
    RulesDatabase, UndecidedCall,
};
use countersign_client::{ApiClient, ServerAddress, ServerCredential, USUAL_SERVER};
use countersign_gate::{DatabaseUrl, ServerPublicKey};
use countersign_tools::Environment;
use std::time::Duration;

use crate::cli::{ConsentServerArgs, DatabaseArgs};
use crate::running_server::RunningServer;
use crate::server_target::{is_on_this_machine, read_credential};
use crate::token_store::agent_token_file;
use crate::{data_paths, environment, output};

/// Returns where the rules of this machine are.
pub(crate) fn local_rules_place(asking: &ConsentServerArgs) -> LocalRulesPlace {
    let data = asking.records.data.as_deref();
    let own = [data_paths::data_path(data), environment::config_folder()];
    LocalRulesPlace {
        own_folders: own.into_iter().flatten().collect(),
        rulebook: data_paths::rulebook(data),
        home: environment::home(),
        environment: Environment::from(environment::for_tools()),
        database: rules_database(asking),
        is_server_named: asking.server.is_some(),
        plans: environment::claude_config().map(|folder| folder.join("plans")),
    }
}

/// Has a person asked at the server, and says at the terminal what is waited for.
pub(crate) async fn ask_server(
    open: UndecidedCall,
    call: &ConsentRequest,
    asking: &ConsentServerArgs,
    wait: Duration,
) -> ConsentAnswer {
    let server = consent_client(asking);
    let address = server.as_ref().map(|server| server.address().to_owned()).unwrap_or_default();
    open.ask(call, server, wait, || {
        let (tool, seconds) = (&call.tool_name, wait.as_secs());
        output::note(&format!(
            "Countersign: waiting up to {seconds} s for a decision on {tool} at {address}/agent"
        ));
    })
    .await
}

/// Returns the server that was named, or that runs on the data folder.
pub(crate) fn consent_client(
    asking: &ConsentServerArgs,
) -> Result<ConsentClient, ConsentClientError> {
    let settings = |why: String| ConsentClientError::Settings(why);
    let address =
        ServerAddress::parse(&server_url(asking)).map_err(|it| settings(it.to_string()))?;
    let credential = credential(asking, address.is_loopback())?;
    let client = ApiClient::new(address, "default", credential);
    client.map(ConsentClient::new).map_err(|error| settings(error.to_string()))
}

/// Returns where the server is: as it was named, or as the one says that runs on the data folder.
fn server_url(asking: &ConsentServerArgs) -> String {
    if let Some(named) = &asking.server {
        return named.clone();
    }
    let running = RunningServer::find(asking.records.data.as_deref());
    running.map_or_else(|| USUAL_SERVER.to_owned(), |running| running.url)
}

/// Returns the token and the key of the server that may be told it: what was named, or else the agent's
/// token of this machine.
fn credential(
    asking: &ConsentServerArgs,
    is_here: bool,
) -> Result<Option<ServerCredential>, ConsentClientError> {
    let data = asking.records.data.as_deref();
    let own = || agent_token_file(data).filter(|file| is_here && file.exists());
    let read = |file: &Path| {
        read_credential(file).map_err(|error| ConsentClientError::Settings(format!("{error:#}")))
    };
    let credential = match (&asking.token_file, &asking.token) {
        (Some(file), _) => Some(read(file)?),
        (None, Some(token)) => Some(ServerCredential { token: token.clone(), server_key: None }),
        (None, None) => own().as_deref().map(read).transpose()?,
    };
    let Some(credential) = credential else { return Ok(None) };
    let server_key = match credential.server_key {
        None if is_here => local_server_key(&asking.records)?,
        key => key,
    };
    Ok(Some(ServerCredential { server_key, ..credential }))
}

/// Returns the key of this machine's server, where its database is a file that can be looked into.
fn local_server_key(records: &DatabaseArgs) -> Result<Option<ServerPublicKey>, ConsentClientError> {
    match data_paths::database_file(records).filter(|file| file.exists()) {
        Some(file) => data_paths::server_key(&file).map_err(ConsentClientError::Settings),
        None => Ok(None),
    }
}

fn rules_database(asking: &ConsentServerArgs) -> RulesDatabase {
    let elsewhere = |why: &str| RulesDatabase::Elsewhere(why.to_owned());
    if asking.server.as_deref().is_some_and(|server| !is_on_this_machine(server)) {
        return elsewhere("the rules are kept on another machine");
    }
    let file = match asking.records.database.as_deref().map(str::parse) {
        Some(Ok(DatabaseUrl::Sqlite(file))) => file,
        Some(Ok(DatabaseUrl::Postgres(_))) => {
            return elsewhere("the rules are kept in a PostgreSQL");
        }
        Some(Err(_)) => return elsewhere("the database is of no kind that is known"),
        None => match data_paths::data_path(asking.records.data.as_deref()) {
            Some(folder) => folder.join("countersign.db"),
            None => return RulesDatabase::None,
        },
    };
    match file.try_exists() {
        Ok(true) => RulesDatabase::File(file),
        Ok(false) => RulesDatabase::None,
        Err(_) => elsewhere("the data folder cannot be looked into"),
    }
}
