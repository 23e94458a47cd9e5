package certs

import (
	"context"
	"log/slog"
	"slices"

	"go.uber.org/zap/zapcore"
)

// told are the fields that go to the log. Others have addresses of callers, tokens and keys of
// challenges, or nothing that an operator needs.
var told = []string{"identifier", "identifiers", "server_name", "subjects", "error", "ca",
	"challenge_type", "problem", "status_code", "remaining", "attempt"}

// bridge hands what certmagic logs on to slog.
type bridge struct {
	handler slog.Handler
	fields  []zapcore.Field
}

// levelOf is one lower than zap's, but for what an operator has to know: each order says a dozen
// lines.
func levelOf(l zapcore.Level) slog.Level {
	switch {
	case l >= zapcore.ErrorLevel:
		return slog.LevelError
	case l == zapcore.WarnLevel:
		return slog.LevelWarn
	}
	return slog.LevelDebug
}

func (b bridge) Enabled(l zapcore.Level) bool {
	return l >= zapcore.InfoLevel && b.handler.Enabled(context.Background(), levelOf(l))
}

func (b bridge) With(fields []zapcore.Field) zapcore.Core {
	return bridge{b.handler, slices.Concat(b.fields, fields)}
}

func (b bridge) Check(e zapcore.Entry, c *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if b.Enabled(e.Level) {
		return c.AddCore(e, b)
	}
	return c
}

func (b bridge) Write(e zapcore.Entry, fields []zapcore.Field) error {
	encoder := zapcore.NewMapObjectEncoder()
	for _, f := range slices.Concat(b.fields, fields) {
		if slices.Contains(told, f.Key) {
			f.AddTo(encoder)
		}
	}
	record := slog.NewRecord(e.Time, levelOf(e.Level), "certificates: "+e.Message, 0)
	for _, name := range told {
		if value, there := encoder.Fields[name]; there {
			record.AddAttrs(slog.Any(name, value))
		}
	}
	return b.handler.Handle(context.Background(), record)
}

// Sync has nothing to do: slog keeps nothing back.
func (b bridge) Sync() error { return nil }
