package logger

import (
	"time"

	"go.uber.org/zap/zapcore"
)

const (
	jsonTime    = "2006-01-02T15:04:05.000Z07:00" // RFC 3339 with milliseconds
	consoleTime = "15:04:05.000"
)

func newJSONEncoder() zapcore.Encoder {
	return zapcore.NewJSONEncoder(zapcore.EncoderConfig{
		TimeKey:        "ts",
		LevelKey:       "level",
		MessageKey:     "msg",
		EncodeLevel:    zapcore.LowercaseLevelEncoder,
		EncodeDuration: zapcore.StringDurationEncoder,
		EncodeTime: func(t time.Time, enc zapcore.PrimitiveArrayEncoder) {
			zapcore.TimeEncoderOfLayout(jsonTime)(t.UTC(), enc)
		},
	})
}

// newConsoleEncoder returns the encoder for a person at a terminal, who knows the date and the time zone.
func newConsoleEncoder() zapcore.Encoder {
	return zapcore.NewConsoleEncoder(zapcore.EncoderConfig{
		TimeKey:          "ts",
		LevelKey:         "level",
		MessageKey:       "msg",
		ConsoleSeparator: " ",
		EncodeTime:       zapcore.TimeEncoderOfLayout(consoleTime),
		EncodeDuration:   zapcore.StringDurationEncoder,
		EncodeLevel: func(l zapcore.Level, enc zapcore.PrimitiveArrayEncoder) {
			enc.AppendString(paddedLevel(l))
		},
	})
}

// paddedLevel keeps the messages of a console in one column.
func paddedLevel(l zapcore.Level) string {
	if name := l.CapitalString(); len(name) == len("INFO") {
		return name + " "
	}
	return l.CapitalString()
}
