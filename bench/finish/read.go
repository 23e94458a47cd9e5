package main

import "unink/bench/reading"

// read adds the errors of the characters read before and after to the figures.
func (b *bench) read(f *figures, before, after, truth []byte) error {
	var text [3]string
	for i, data := range [][]byte{before, after, truth} {
		var err error
		if text[i], err = b.reader.Read(data); err != nil {
			return err
		}
	}
	if text[2] != "" {
		f.cer.before.add(reading.Error(text[0], text[2]))
		f.cer.after.add(reading.Error(text[1], text[2]))
	}
	return nil
}
