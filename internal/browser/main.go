//go:build js

// Command browser is the engine as WebAssembly, for a worker of a web page.
//
// The worker has onnxruntime-web as the global "ort" and an object "unink" with three functions.
// ready(clean) is called once pages can be cleaned, failed(code, message) if they never can, and
// stage(name) as each stage leaves a page: "input", "orient", "flatten", "demoire", "segment",
// "erase" and "finish". One page is cleaned at a time:
//
//	clean(pixels, width, height, options, done, failed)
//
// takes RGBA bytes, row by row, and the options finish, remove, format and source, as the command
// line spells them, keepOrientation and keepDistortion. done({image, type, handwriting, before,
// report}) gets encoded pictures as bytes and the report as JSON; before is empty where the picture
// that came lies as the result. failed(code, message) is as above.
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
)

func main() {
	// Memory that a page once took stays with the worker, so it is collected early.
	debug.SetGCPercent(50)
	host := js.Global().Get("unink")
	cleaner, err := unink.New(unink.Config{Show: func(_ context.Context, stage string, _ *image.RGBA) {
		host.Call("stage", stage)
	}})
	if err != nil {
		tell(host.Get("failed"), err)
		return
	}
	host.Call("ready", js.FuncOf(func(_ js.Value, args []js.Value) any {
		go func() {
			if done, err := clean(cleaner, args[0], args[1].Int(), args[2].Int(), args[3]); err != nil {
				tell(args[5], err)
			} else {
				args[4].Invoke(done)
			}
		}()
		return nil
	}))
	select {}
}

// tell calls back with an error's code and its message.
func tell(failed js.Value, err error) {
	var told *unink.Error
	if !errors.As(err, &told) {
		told = &unink.Error{Code: unink.ErrInternal, Message: err.Error()}
	}
	failed.Invoke(string(told.Code), told.Message)
}

func clean(c *unink.Cleaner, pixels js.Value, w, h int, asked js.Value) (map[string]any, error) {
	options, err := read(asked)
	if err != nil {
		return nil, err
	}
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	js.CopyBytesToGo(m.Pix, pixels)
	page, err := c.CleanImage(context.Background(), m, options)
	if err != nil {
		return nil, err
	}
	source, err := unink.ParseFormat(asked.Get("source").String())
	if err != nil {
		return nil, err
	}
	return encode(page, imagefile.Choose(imagefile.Format(options.Format), imagefile.Format(source),
		page.Image))
}

func read(asked js.Value) (o unink.Options, err error) {
	if o.Finish, err = unink.ParseFinish(asked.Get("finish").String()); err != nil {
		return o, err
	}
	if inks := asked.Get("remove").String(); inks != "" {
		if o.Remove, err = unink.ParseInk(inks); err != nil {
			return o, err
		}
	}
	o.Layers, o.Before = true, true
	o.KeepOrientation = asked.Get("keepOrientation").Bool()
	o.KeepDistortion = asked.Get("keepDistortion").Bool()
	o.Format, err = unink.ParseFormat(asked.Get("format").String())
	return o, err
}

func encode(page *unink.Page, format imagefile.Format) (map[string]any, error) {
	picture, err := imagefile.Encode(page.Image, format, imagefile.Meta{})
	if err != nil {
		return nil, err
	}
	handwriting, err := imagefile.EncodePNG(page.Handwriting)
	if err != nil {
		return nil, err
	}
	var before []byte
	if page.Before != nil {
		if before, err = imagefile.Encode(page.Before, imagefile.JPEG, imagefile.Meta{}); err != nil {
			return nil, err
		}
	}
	report, err := json.Marshal(page.Report)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"image": bytesOf(picture), "type": format.MediaType(), "handwriting": bytesOf(handwriting),
		"before": bytesOf(before), "report": string(report),
	}, nil
}

func bytesOf(b []byte) js.Value {
	out := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(out, b)
	return out
}
