/* text.c - figures as the words of a table's cell. */
#include "base/text.h"

#include <math.h>
#include <stdio.h>

const char *text_value(char text[CELL], double value, const char *unit, size_t n, size_t runs)
{
    if (!isfinite(value)) {
        snprintf(text, CELL, "-");
        return text;
    }
    int whole = fabs(value) >= 10000 && fabs(value) < 1e15;
    int at = snprintf(text, CELL, whole ? "%.0f%s%s" : "%.4g%s%s", value, *unit ? " " : "", unit);
    if (n < runs && at < CELL)
        snprintf(text + at, (size_t)(CELL - at), " (n=%zu)", n);
    return text;
}

const char *text_bytes(char text[CELL], double bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    int i = 0;
    for (; i < 4 && bytes >= 1024 && fmod(bytes, 1024) == 0; i++)
        bytes /= 1024;
    if (bytes > 0)
        snprintf(text, CELL, bytes < 1e15 ? "%.0f %s" : "%.4g %s", bytes, unit[i]);
    else
        snprintf(text, CELL, "-");
    return text;
}

const char *text_range(char text[CELL], double low, double high)
{
    if (isfinite(low))
        snprintf(text, CELL, "%.3f to %.3f", low, high);
    else
        snprintf(text, CELL, "-");
    return text;
}

const char *text_ratio(char text[CELL], double ratio)
{
    if (isfinite(ratio))
        snprintf(text, CELL, "%.3f", ratio);
    else
        snprintf(text, CELL, "-");
    return text;
}

const char *text_memory(char text[CELL], size_t bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double value = (double)bytes;
    int i = 0;
    while (value >= 1000 && i < 5) {
        value /= 1024;
        i++;
    }
    snprintf(text, CELL, i && value < 100 ? "%.1f %s" : "%.0f %s", value, unit[i]);
    return text;
}

const char *text_duration(char text[CELL], double seconds)
{
    if (seconds < 59.5)
        snprintf(text, CELL, "%.0f s", seconds < 1 ? 1 : seconds);
    else if (seconds < 3599.5)
        snprintf(text, CELL, "%d min %02d s", (int)(seconds + 0.5) / 60, (int)(seconds + 0.5) % 60);
    else
        snprintf(text, CELL, "%.0f h %02d min", floor(seconds / 3600), (int)(fmod(seconds, 3600) / 60));
    return text;
}
