//go:build js

// Command browser is the engine as WebAssembly, for a worker of a web page or of Node.
//
// The worker has onnxruntime-web, or onnxruntime-node, as the global "ort". Its global "unink" is
// an object with five functions.
// ready(clean) is called once pages can be cleaned, failed(code, message) if they never can, and
// stage(name) as each stage leaves a page, with the names of [unink.Pictures].
// file(name, done, failed) is called when a network, such as "segment.onnx", or a decoder, such as
// "heif.wasm", is first needed, before ready or for a page: done(content) takes it as a Uint8Array,
// failed(message) says why there is none. sandbox(decoder, bytes, milliseconds) gives what an
// instance of a compiled decoder exports. An instance that wants more throws "memory" or "time".
//
// One page is cleaned at a time:
//
//	clean(picture, options, done, failed)
//
// takes an encoded picture as a Uint8Array, or pixels: {data, width, height} with RGBA bytes, row
// by row. The options are those of unink.d.ts, or what the form of the HTTP API calls them, lists as
// text with commas, and source, the format that pixels came in; each may be left out.
// done({image, type, handwriting, mask, before, report}) gets encoded pictures as bytes, null where
// there is none, and the report as JSON. before is null where the picture that came lies as the
// result. failed(code, message) is as above.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"image"
	"runtime/debug"
	"syscall/js"

	"unink"
	"unink/internal/imagefile"
	"unink/internal/option"
)

// maxBytes is the largest encoded picture, as on the command line.
const maxBytes = 64 << 20

func main() {
	// Memory that a page once took stays with the worker, so it is collected early.
	debug.SetGCPercent(50)
	host := js.Global().Get("unink")
	cleaner, err := unink.New(unink.Config{
		Limits: unink.Limits{MaxBytes: maxBytes},
		Show: func(_ context.Context, stage string, _ *image.RGBA) {
			host.Call("stage", stage)
		},
	})
	if err != nil {
		tell(host.Get("failed"), err)
		return
	}
	host.Call("ready", js.FuncOf(func(_ js.Value, args []js.Value) any {
		picture, options, done, failed := args[0], args[1], args[2], args[3]
		go func() {
			if cleaned, err := clean(cleaner, picture, options); err != nil {
				tell(failed, err)
			} else {
				done.Invoke(cleaned)
			}
		}()
		return nil
	}))
	select {}
}

// tell calls back with an error's code, and what was wrong and what to do about it.
func tell(failed js.Value, err error) {
	var told *unink.Error
	if !errors.As(err, &told) {
		told = &unink.Error{Code: unink.ErrInternal, Message: err.Error()}
	}
	message := told.Message
	if told.Hint != "" {
		message += " (" + told.Hint + ")"
	}
	failed.Invoke(string(told.Code), message)
}

func clean(c *unink.Cleaner, picture, asked js.Value) (map[string]any, error) {
	result, err := cleanPicture(c, picture, asked)
	if err != nil {
		return nil, err
	}
	return answer(result)
}

func cleanPicture(c *unink.Cleaner, picture, asked js.Value) (*unink.Result, error) {
	options, err := read(asked)
	if err != nil {
		return nil, err
	}
	if picture.InstanceOf(js.Global().Get("Uint8Array")) {
		data := make([]byte, picture.Length())
		js.CopyBytesToGo(data, picture)
		return c.Clean(context.Background(), data, options)
	}
	source, err := unink.ParseFormat(text(asked, "source"))
	if err != nil {
		return nil, err
	}
	ctx := context.Background() // a page is given up by ending the worker
	page, err := c.CleanImage(ctx, pixels(picture), options)
	if err != nil {
		return nil, err
	}
	format := imagefile.Choose(imagefile.Format(options.Format), imagefile.Format(source), page.Image)
	return encode(ctx, page, format)
}

// read takes options under their names in the npm package, or those of the web entry point's form.
func read(asked js.Value) (o unink.Options, err error) {
	for _, one := range option.All {
		name := one.Script
		if asked.Get(name).IsUndefined() {
			name = one.Form
		}
		switch field := one.Field(&o).(type) {
		case *bool:
			*field = asked.Get(name).Truthy()
		case option.Text:
			if value := text(asked, name); value != "" {
				err = errors.Join(err, field.UnmarshalText([]byte(value)))
			}
		}
	}
	if asked.Get("preserveColor").Truthy() {
		o.Finish = unink.Colour
	}
	return o, err
}

// text is an option's value, empty where it is left out.
func text(asked js.Value, name string) string {
	if value := asked.Get(name); !value.IsUndefined() {
		return value.String()
	}
	return ""
}

func pixels(picture js.Value) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, picture.Get("width").Int(), picture.Get("height").Int()))
	js.CopyBytesToGo(m.Pix, picture.Get("data"))
	return m
}

// encode gives a page as a file, without the mask, which no web page asks for.
func encode(ctx context.Context, page *unink.Page, format imagefile.Format) (r *unink.Result,
	err error) {
	r = &unink.Result{Format: unink.Format(format), Report: page.Report}
	if r.Data, err = imagefile.Encode(ctx, page.Image, format, imagefile.Meta{}); err != nil {
		return nil, err
	}
	if page.Handwriting != nil {
		if r.Handwriting, err = imagefile.EncodePNG(ctx, page.Handwriting); err != nil {
			return nil, err
		}
	}
	if page.Before != nil {
		r.Before, err = imagefile.Encode(ctx, page.Before, imagefile.JPEG, imagefile.Meta{})
	}
	return r, err
}

// answer is a result in the words of JavaScript.
func answer(r *unink.Result) (map[string]any, error) {
	report, err := json.Marshal(r.Report)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"image": bytesOf(r.Data), "type": r.Format.MediaType(), "handwriting": bytesOf(r.Handwriting),
		"mask": bytesOf(r.Mask), "before": bytesOf(r.Before), "report": string(report),
	}, nil
}

// bytesOf copies bytes to JavaScript; none is null.
func bytesOf(b []byte) js.Value {
	if b == nil {
		return js.Null()
	}
	out := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(out, b)
	return out
}
