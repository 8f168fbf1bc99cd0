import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NotFound } from "@custard/provider";

// Stands for the service that you manage. It keeps notes as files; yours has a client of its own.

const folder = join(tmpdir(), "notes");

export interface NoteText {
  readonly Title: string;
  readonly Text: string;
  readonly Copies: number;
}

export async function createNote(id: string, note: NoteText): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(fileOf(id), JSON.stringify(note));
}

export async function updateNote(id: string, note: NoteText): Promise<void> {
  await createNote(id, note);
}

export async function readNote(id: string): Promise<{ Url: string; Words: number }> {
  const text = await readFile(fileOf(id), "utf8").catch(() => {
    throw new NotFound(`There is no note ${id}`);
  });
  const note = JSON.parse(text) as NoteText;
  return {
    Url: `https://notes.example.com/${id}`,
    Words: note.Text.split(/\s+/).filter(Boolean).length * note.Copies,
  };
}

export async function deleteNote(id: string): Promise<void> {
  await rm(fileOf(id), { force: true });
}

function fileOf(id: string): string {
  return join(folder, `${encodeURIComponent(id)}.json`);
}
