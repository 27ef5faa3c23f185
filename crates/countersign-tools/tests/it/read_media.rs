//! Pictures, documents and notebooks, as a model is shown them.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use countersign_core::{Attachment, AttachmentKind};
use serde_json::json;

use crate::world::{World, assert_has};

const GIF: &[u8] = b"GIF89a\x02\x00\x03\x00\x00\x00\x00;";
const PDF: &[u8] = b"%PDF-1.4\n1 0 obj<</Type/Pages>>\n2 0 obj<</Type/Page>>\ntrailer<<>>\n";

#[tokio::test]
async fn a_picture_is_shown_as_one_whatever_it_is_called() {
    let world = World::with_file("picture.txt", GIF);
    let shown = world.run("Read", json!({"file_path": "picture.txt"})).await.unwrap();
    assert_eq!(shown.content, "Picture picture.txt (image/gif, 2 x 3, 14 bytes)");
    let expected = attachment(AttachmentKind::Image, "image/gif", GIF);
    assert_eq!(shown.attachments, [expected]);
}

#[tokio::test]
async fn a_document_is_shown_as_one() {
    let world = World::with_file("a.pdf", PDF);
    let shown = world.run("Read", json!({"file_path": "a.pdf"})).await.unwrap();
    assert_has(&shown.content, "Document a.pdf (PDF, pages: 1,");
    let expected = attachment(AttachmentKind::Document, "application/pdf", PDF);
    assert_eq!(shown.attachments, [expected]);
}

#[tokio::test]
async fn what_the_api_would_refuse_is_refused_here() {
    let world = World::new();
    let fails = async |bytes: &[u8], says: &str| {
        world.write("x", bytes);
        assert_has(&world.fails("Read", json!({"file_path": "x"})).await, says);
    };
    fails(b"\x89PNG\r\n\x1a\ncut off", "is damaged or cut off").await;
    fails(b"GIF89a\xff\xff\x03\x00\x00\x00\x00;", "has 65535 x 3 pixels").await;
    fails(&[GIF, &vec![0; 4_000_000]].concat(), "is too large to be shown (4.0 MB").await;
    fails(&[PDF, &vec![0; 9_000_000]].concat(), "is too large to be shown (9.0 MB").await;
    fails(b"%PDF-1.4\n<</Type/Page>>trailer<</Encrypt 1 0 R>>", "protected by a password").await;
    fails(b"%PDF-1.4\nnothing", "no page was found").await;
    let many = [PDF, b"<</Type/Page>>".repeat(100).as_slice()].concat();
    fails(&many, "has 101 pages, the limit is 100").await;
}

#[tokio::test]
async fn a_notebook_is_shown_by_its_cells() {
    let notebook = json!({"nbformat": 4, "cells": [
        {"cell_type": "markdown", "id": "aa", "source": ["# Top\n", "words"]},
        {"cell_type": "code", "source": "plot()", "outputs": [
            {"output_type": "stream", "name": "stdout", "text": ["out\n"]},
            {"output_type": "display_data", "data": {
                "text/plain": "<Figure>", "image/png": "AAAA", "image/jpeg": "x"}},
            {"output_type": "display_data", "data": {"image/png": STANDARD.encode(GIF)}},
            {"output_type": "error", "ename": "E", "evalue": "no",
                "traceback": ["\u{1b}[31mE\u{1b}[0m: no", "line 2"]},
        ]},
    ]});
    let world = World::with_file("n.ipynb", notebook.to_string());
    let shown = world.run("Read", json!({"file_path": "n.ipynb"})).await.unwrap();
    assert_eq!(
        shown.content,
        "<cell id=\"aa\" type=\"markdown\">\n# Top\nwords\n</cell>\n\
         <cell id=\"cell-1\" type=\"code\">\nplot()\n</cell>\n\
         <output>\nout\n</output>\n\
         <output>\n<Figure>\n</output>\n\
         <output>a picture that cannot be shown</output>\n\
         <output>picture 1, of cell-1</output>\n\
         <output>\nE: no\nline 2\n</output>\n"
    );
    assert_eq!(shown.attachments, [attachment(AttachmentKind::Image, "image/gif", GIF)]);
    let lines = world.ok("Read", json!({"file_path": "n.ipynb", "limit": 1})).await;
    assert_has(&lines, "     1\t{\"nbformat\":4");
}

#[tokio::test]
async fn what_is_called_a_notebook_and_is_none_is_text() {
    let world = World::with_file("n.ipynb", "just words\n");
    let shown = world.ok("Read", json!({"file_path": "n.ipynb"})).await;
    assert_eq!(shown, "     1\tjust words\n");
}

fn attachment(kind: AttachmentKind, media_type: &str, bytes: &[u8]) -> Attachment {
    Attachment { kind, media_type: media_type.to_owned(), data: STANDARD.encode(bytes) }
}
