/* decode reads the first page of a TIFF file: libtiff's own reading into red, green, blue and alpha,
 * as the page is stored, not turned. encode compresses black and white as Group 4. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

struct file {
	const uint8_t *data;
	toff_t size, at;
};

static tmsize_t read_file(thandle_t handle, void *to, tmsize_t n)
{
	struct file *f = handle;
	if (f->at >= f->size)
		return 0;
	if ((toff_t)n > f->size - f->at)
		n = f->size - f->at;
	memcpy(to, f->data + f->at, n);
	f->at += n;
	return n;
}

static tmsize_t read_only(thandle_t handle, void *from, tmsize_t n)
{
	return 0;
}

static toff_t seek_file(thandle_t handle, toff_t to, int whence)
{
	struct file *f = handle;
	f->at = to + (whence == SEEK_CUR ? f->at : whence == SEEK_END ? f->size : 0);
	return f->at;
}

static int close_file(thandle_t handle)
{
	return 0;
}

static toff_t size_file(thandle_t handle)
{
	return ((struct file *)handle)->size;
}

/* The file is in memory already. */
static int map_file(thandle_t handle, void **at, toff_t *size)
{
	*at = (void *)((struct file *)handle)->data;
	*size = ((struct file *)handle)->size;
	return 1;
}

static void unmap_file(thandle_t handle, void *at, toff_t size)
{
}

/* multiply multiplies pixels by how opaque they are. */
static void multiply(uint8_t *pixels, size_t n)
{
	for (uint8_t *p = pixels; p < pixels + 4 * n; p += 4)
		for (int i = 0; i < 3; i++)
			p[i] = (p[i] * p[3] + 127) / 255;
}

enum result { BROKEN, DONE, UNKNOWN };

/* decode writes width × height pixels of 4 bytes each; what is transparent is multiplied by it. */
enum result decode(const uint8_t *data, uint32_t size, uint32_t width, uint32_t height, uint8_t *out)
{
	struct file f = {data, size, 0};
	TIFFRGBAImage image;
	char message[1024];
	TIFFSetErrorHandler(NULL);
	TIFFSetWarningHandler(NULL);
	TIFF *tif = TIFFClientOpen("", "r", &f, read_file, read_only, seek_file, close_file, size_file,
			map_file, unmap_file);
	if (!tif)
		return BROKEN;
	if (!TIFFRGBAImageOK(tif, message))
		return UNKNOWN;
	const int stop_at_errors = 1;
	if (!TIFFRGBAImageBegin(&image, tif, stop_at_errors, message))
		return BROKEN;
	if (image.width != width || image.height != height)
		return BROKEN;
	image.req_orientation = image.orientation;
	if (!TIFFRGBAImageGet(&image, (uint32_t *)out, width, height))
		return BROKEN;
	if (image.alpha == EXTRASAMPLE_UNASSALPHA && (image.photometric == PHOTOMETRIC_MINISBLACK ||
			image.photometric == PHOTOMETRIC_MINISWHITE))
		multiply(out, (size_t)width * height); /* libtiff does it with colours alone */
	/* Samples that nobody says are transparency are not. */
	uint16_t extra = 0, *kinds = NULL;
	TIFFGetFieldDefaulted(tif, TIFFTAG_EXTRASAMPLES, &extra, &kinds);
	if (extra == 0 || kinds[0] == EXTRASAMPLE_UNSPECIFIED)
		for (size_t i = 3; i < (size_t)width * height * 4; i += 4)
			out[i] = 255;
	return DONE;
}

/* written grows with what is written to it, and is given up with the instance. */
struct written {
	uint8_t *data;
	size_t size, room, at;
};

static tmsize_t read_none(thandle_t handle, void *to, tmsize_t n)
{
	return 0;
}

static tmsize_t write_file(thandle_t handle, void *from, tmsize_t n)
{
	struct written *f = handle;
	if (f->at + n > f->room) {
		f->room = 2 * (f->at + n);
		f->data = realloc(f->data, f->room);
		if (!f->data)
			__builtin_trap();
	}
	memcpy(f->data + f->at, from, n);
	f->at += n;
	if (f->at > f->size)
		f->size = f->at;
	return n;
}

static toff_t seek_written(thandle_t handle, toff_t to, int whence)
{
	struct written *f = handle;
	f->at = to + (whence == SEEK_CUR ? f->at : whence == SEEK_END ? f->size : 0);
	return f->at;
}

static toff_t size_written(thandle_t handle)
{
	return ((struct written *)handle)->size;
}

/* encode compresses rows of bits, black being 1, each row beginning a byte. It returns where the
 * code is, and its size; 0 where it fails. */
const uint8_t *encode(uint8_t *rows, uint32_t width, uint32_t height, uint32_t *size)
{
	const size_t header = 8; /* of the file */
	struct written f = {0};
	TIFFSetErrorHandler(NULL);
	TIFFSetWarningHandler(NULL);
	TIFF *tif = TIFFClientOpen("", "wm", &f, read_none, write_file, seek_written, close_file,
			size_written, NULL, NULL);
	if (!tif)
		return NULL;
	TIFFSetField(tif, TIFFTAG_IMAGEWIDTH, width);
	TIFFSetField(tif, TIFFTAG_IMAGELENGTH, height);
	TIFFSetField(tif, TIFFTAG_ROWSPERSTRIP, height);
	TIFFSetField(tif, TIFFTAG_BITSPERSAMPLE, 1);
	TIFFSetField(tif, TIFFTAG_SAMPLESPERPIXEL, 1);
	TIFFSetField(tif, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISWHITE);
	TIFFSetField(tif, TIFFTAG_COMPRESSION, COMPRESSION_CCITTFAX4);
	if (TIFFWriteEncodedStrip(tif, 0, rows, (tmsize_t)((width + 7) / 8) * height) < 0 ||
			!TIFFFlushData(tif) || f.size <= header)
		return NULL;
	*size = f.size - header;
	return f.data + header;
}
