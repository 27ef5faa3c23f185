//! The log of a server: to stderr, as text for people or as JSON for machines.

use std::fmt;

use countersign_gate::ACTIVITY;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields};
use tracing_subscriber::registry::{LookupSpan, Scope, SpanRef};

use crate::log_format::LogFormat;
use crate::{environment, output};

/// Writes the log to stderr from now on, and the notes like it.
pub(crate) fn init_log(format: LogFormat) {
    output::set_note_format(format);
    let log = tracing_subscriber::fmt()
        .with_env_filter(environment::log_filter())
        // Coloured for people only: a file keeps the codes.
        .with_ansi(format == LogFormat::Text && output::is_log_coloured())
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => log.event_format(TextLineFormat).init(),
        LogFormat::Json => log.json().flatten_event(true).with_current_span(false).init(),
    }
}

/// Lines of text: when, how grave, what it is about, what happened, and within what.
struct TextLineFormat;

impl<S, N> FormatEvent<S, N> for TextLineFormat
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let target = event.metadata().target();
        SystemTime.format_time(&mut writer)?;
        write_level(&mut writer, *event.metadata().level())?;
        write!(writer, "{target}: ")?;
        context.field_format().format_fields(writer.by_ref(), event)?;
        // Lines on runs and calls name these themselves: only the request is news.
        let is_news = |span: &SpanRef<'_, S>| target != ACTIVITY || span.name() == "request";
        let spans = context.event_scope().into_iter().flat_map(Scope::from_root);
        for span in spans.filter(is_news) {
            write!(writer, " {}{{", span.name())?;
            if let Some(fields) = span.extensions().get::<FormattedFields<N>>() {
                write!(writer, "{fields}")?;
            }
            write!(writer, "}}")?;
        }
        writeln!(writer)
    }
}

fn write_level(writer: &mut Writer<'_>, level: Level) -> fmt::Result {
    if !writer.has_ansi_escapes() {
        return write!(writer, " {level:>5} ");
    }
    let colour = match level {
        Level::ERROR => 31,
        Level::WARN => 33,
        Level::INFO => 32,
        Level::DEBUG => 34,
        Level::TRACE => 35,
    };
    write!(writer, " \u{1b}[{colour}m{level:>5}\u{1b}[0m ")
}
