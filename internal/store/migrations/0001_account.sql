-- +goose Up
CREATE TABLE users (
  id TEXT PRIMARY KEY
);
