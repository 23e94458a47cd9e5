/* decode reads the first page of a TIFF file into red, green, blue and alpha, as the page is stored,
 * not turned: with libtiff's own reading into these, and else sample by sample. encode compresses
 * black and white as Group 4. */
#include <math.h>
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

/* samples are whole numbers of up to 32 bits, row by row; those of a pixel stand together. */
struct samples {
	TIFF *tif;
	uint16_t bits, each, photometric, planar, format;
	int channels; /* that are looked at */
	uint32_t width, height;
	int shift; /* from a sample to 8 bits */
};

static int channels_of(uint16_t photometric)
{
	switch (photometric) {
	case PHOTOMETRIC_MINISBLACK:
	case PHOTOMETRIC_MINISWHITE:
		return 1;
	case PHOTOMETRIC_RGB:
	case PHOTOMETRIC_CIELAB:
		return 3;
	case PHOTOMETRIC_SEPARATED:
		return 4;
	}
	return 0;
}

/* samples_of says what the page's samples are, and whether they can be read here. */
static int samples_of(TIFF *tif, uint32_t width, uint32_t height, struct samples *s)
{
	*s = (struct samples){.tif = tif, .width = width, .height = height};
	TIFFGetFieldDefaulted(tif, TIFFTAG_BITSPERSAMPLE, &s->bits);
	TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLESPERPIXEL, &s->each);
	TIFFGetFieldDefaulted(tif, TIFFTAG_PLANARCONFIG, &s->planar);
	TIFFGetFieldDefaulted(tif, TIFFTAG_SAMPLEFORMAT, &s->format);
	if (!TIFFGetField(tif, TIFFTAG_PHOTOMETRIC, &s->photometric))
		return 0;
	s->channels = channels_of(s->photometric);
	s->shift = s->bits - 8;
	return !TIFFIsTiled(tif) && s->planar == PLANARCONFIG_CONTIG && s->format <= SAMPLEFORMAT_INT &&
			s->bits >= 8 && s->bits <= 32 && s->channels && s->channels <= s->each;
}

/* sample is number i of a row. libtiff has whole bytes in this machine's order, the lowest first;
 * other samples follow each other bit by bit, the highest first. */
static uint32_t sample(const uint8_t *row, size_t i, int bits)
{
	uint64_t v = 0;
	size_t at = i * bits;
	if (bits % 8 == 0) {
		for (int b = bits; b > 0; b -= 8)
			v = v << 8 | row[(at + b) / 8 - 1];
		return v;
	}
	for (size_t b = at / 8; b <= (at + bits - 1) / 8; b++)
		v = v << 8 | row[b];
	return v >> (7 - (at + bits - 1) % 8) & ((1ull << bits) - 1);
}

/* read_rows reads the page row by row, and hands the samples of each row's channels to each. */
static int read_rows(struct samples *s, void (*each)(struct samples *, uint32_t y, const uint32_t *row,
		uint8_t *out), uint8_t *out)
{
	uint8_t *line = malloc(TIFFScanlineSize(s->tif));
	uint32_t *row = malloc((size_t)s->width * s->channels * sizeof *row);
	if (!line || !row)
		return 0;
	for (uint32_t y = 0; y < s->height; y++) {
		if (TIFFReadScanline(s->tif, line, y, 0) < 0)
			return 0;
		for (size_t x = 0; x < s->width; x++)
			for (int c = 0; c < s->channels; c++)
				row[x * s->channels + c] = sample(line, x * s->each + c, s->bits);
		each(s, y, row, out);
	}
	free(line);
	free(row);
	return 1;
}

/* measure finds how many bits the largest sample takes: files of 32 bits hardly use them all. */
static void measure(struct samples *s, uint32_t y, const uint32_t *row, uint8_t *out)
{
	for (size_t i = 0; i < (size_t)s->width * s->channels; i++)
		while (s->shift < 24 && row[i] >> s->shift > 255)
			s->shift += 8;
}

static uint8_t encoded(double light) /* as sRGB, IEC 61966-2-1 */
{
	double v = light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
	return v <= 0 ? 0 : v >= 1 ? 255 : v * 255 + 0.5;
}

static double unlab(double t) { return t > 6.0 / 29 ? t * t * t : (t - 4.0 / 29) * 108 / 841; }

/* lab writes a pixel of CIE L*a*b*, of D50 as printers have it, as sRGB: paper comes out white.
 * The matrix goes by way of Bradford's adaptation to D65. */
static void lab(double l, double a, double b, uint8_t *out)
{
	static const double rgb[3][3] = {{3.1338561, -1.6168667, -0.4906146},
			{-0.9787684, 1.9161415, 0.0334540}, {0.0719453, -0.2289914, 1.4052427}};
	double y = (l + 16) / 116;
	double xyz[3] = {0.96422 * unlab(y + a / 500), unlab(y), 0.82521 * unlab(y - b / 200)};
	for (int i = 0; i < 3; i++)
		out[i] = encoded(rgb[i][0] * xyz[0] + rgb[i][1] * xyz[1] + rgb[i][2] * xyz[2]);
}

/* colour writes a row's pixels. */
static void colour(struct samples *s, uint32_t y, const uint32_t *row, uint8_t *out)
{
	uint8_t *to = out + (size_t)y * s->width * 4;
	for (uint32_t x = 0; x < s->width; x++, to += 4, row += s->channels) {
		uint8_t v[4];
		for (int c = 0; c < s->channels; c++)
			v[c] = row[c] >> s->shift;
		to[3] = 255;
		switch (s->photometric) {
		case PHOTOMETRIC_CIELAB:
			lab(row[0] * 100.0 / (0xffffffff >> (32 - s->bits)),
					(int32_t)(row[1] << (32 - s->bits)) / 16777216.0,
					(int32_t)(row[2] << (32 - s->bits)) / 16777216.0, to);
			break;
		case PHOTOMETRIC_SEPARATED:
			for (int c = 0; c < 3; c++)
				to[c] = (255 - v[c]) * (255 - v[3]) / 255;
			break;
		default:
			for (int c = 0; c < 3; c++)
				to[c] = s->photometric == PHOTOMETRIC_MINISWHITE ? 255 - v[0] : v[c % s->channels];
		}
	}
}

static enum result decode_samples(TIFF *tif, uint32_t width, uint32_t height, uint8_t *out)
{
	struct samples s;
	if (!samples_of(tif, width, height, &s))
		return UNKNOWN;
	if (s.bits == 32) {
		s.shift = 0;
		if (!read_rows(&s, measure, NULL))
			return BROKEN;
	}
	return read_rows(&s, colour, out) ? DONE : BROKEN;
}

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
	uint16_t bits = 8, photometric = PHOTOMETRIC_MINISBLACK;
	TIFFGetFieldDefaulted(tif, TIFFTAG_BITSPERSAMPLE, &bits);
	TIFFGetField(tif, TIFFTAG_PHOTOMETRIC, &photometric);
	const int deep = photometric == PHOTOMETRIC_SEPARATED && bits != 8;
	if (deep || photometric == PHOTOMETRIC_CIELAB || !TIFFRGBAImageOK(tif, message))
		return decode_samples(tif, width, height, out);
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
