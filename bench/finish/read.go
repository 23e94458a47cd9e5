package main

import "unink/bench/reading"

// read adds the errors of the characters read before and after to the figures.
func (b *bench) read(f *figures, before, after, truth []byte) error {
	want, known := b.truths[string(truth)] // several cases may be of one page
	if !known {
		var err error
		if want, err = b.reader.Read(truth); err != nil {
			return err
		}
		b.truths[string(truth)] = want
	}
	letters := float64(len([]rune(want)))
	for _, part := range []struct {
		to   *mean
		data []byte
	}{{&f.cer.before, before}, {&f.cer.after, after}} {
		text, err := b.reader.Read(part.data)
		if err != nil {
			return err
		}
		part.to.weigh(reading.Error(text, want), letters)
	}
	return nil
}
