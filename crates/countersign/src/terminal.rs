//! What a person sees and types at a terminal: cards, lines, the prompt.

pub(crate) mod announcement;
pub(crate) mod approval_card;
pub(crate) mod approval_queue;
pub(crate) mod client_event;
pub(crate) mod client_message;
pub(crate) mod keyboard;
pub(crate) mod preset_view;
pub(crate) mod request_card;
pub(crate) mod screen;
pub(crate) mod stop_signals;
mod terminal_colors;
pub(crate) mod verdict_view;

pub(crate) use self::terminal_colors::TerminalColors;
