CREATE TABLE processes (id INTEGER PRIMARY KEY AUTOINCREMENT, process_id TEXT UNIQUE NOT NULL, stamp TEXT NOT NULL);
CREATE TABLE items (id INTEGER PRIMARY KEY AUTOINCREMENT, process INTEGER NOT NULL, kind TEXT NOT NULL, name TEXT NOT NULL);
CREATE INDEX items_process ON items (process);
CREATE VIRTUAL TABLE words USING fts5 (text, content='', tokenize="unicode61 remove_diacritics 2");
