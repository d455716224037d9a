/* heat.c - draws a matrix of numbers as coloured cells, with the number in each cell where there is room. */
#include "chart/frame.h"

#include <math.h>

enum { NAME_WIDTH = 200, TOP_WIDTH = 150, GAP = 8, WIDEST = 64, HIGHEST = 26, LOWEST = 15, LINE = 15 };

/* Colours are SVG_HEAT + level: level i + 1 is for numbers from bound[i] on. */
static const double ratio_bound[CHART_BOUNDS] = {0.95, 1.05, 1.1, 1.25, 1.5, 2};
enum { LEVELS = CHART_BOUNDS + 1, NOT_MEASURED = LEVELS };

/* Where the cells are: cell (i, j) begins at (left + j width, top + i height). */
struct grid {
    double left, top, width, height;
};

/* Writes the number, with as many decimals as fit into the cell; "" if it does not fit. */
static const char *number_in(char text[CELL], double value, double width)
{
    for (int decimals = 2; decimals >= 0; decimals--) {
        snprintf(text, CELL, "%.*f", decimals, fmin(value, 1e6));
        if (svg_text_width(text, SVG_SMALL) + 4 <= width && (decimals || value >= 10))
            return text;
    }
    *text = 0;
    return text;
}

static void draw_cell(FILE *out, const struct grid *grid, const double *bound, const struct chart_cell *cell)
{
    double x = grid->left + grid->width * (double)cell->column, y = grid->top + grid->height * (double)cell->row;
    char text[CELL], classes[32];
    int level = 0;
    while (level < LEVELS - 1 && cell->value >= bound[level])
        level++;
    svg_rect(out, x + 0.5, y + 0.5, grid->width - 1, grid->height - 1, "area", SVG_HEAT + level);
    snprintf(classes, sizeof classes, "small on%d", SVG_HEAT + level);
    if (*number_in(text, cell->value, grid->width))
        svg_text(out, x + grid->width / 2, y + grid->height / 2 + 4.5, SVG_MIDDLE, classes, text);
}

/* Writes the names of the rows at the left and of the columns above, as many as there is room for. */
static void draw_names(FILE *out, const struct chart_heat *c, const struct grid *grid)
{
    char label[SVG_LABEL];
    size_t every = (size_t)ceil(LINE / grid->width);
    for (size_t i = 0; i < c->n_rows; i++)
        svg_text(out, grid->left - GAP, grid->top + grid->height * ((double)i + 0.5) + 4.5, SVG_END, "small",
                 svg_shorten(label, c->row[i], SVG_SMALL, NAME_WIDTH));
    for (size_t i = 0; i < c->n_columns; i += every)
        svg_text(out, grid->left + grid->width * ((double)i + 0.5) + 4.5, grid->top - GAP, SVG_UPWARDS, "small",
                 svg_shorten(label, c->column[i], SVG_SMALL, TOP_WIDTH));
}

/* Returns the width of the widest name, of at most `most`. */
static double names_width(const char *const *name, size_t n, double most)
{
    double widest = 0;
    char label[SVG_LABEL];
    for (size_t i = 0; i < n; i++)
        widest = fmax(widest, svg_text_width(svg_shorten(label, name[i], SVG_SMALL, most), SVG_SMALL));
    return widest;
}

/* Adds a legend of all colours, which begins with what the numbers are. */
static void add_legend(struct frame *frame, const double *bound, const char *value)
{
    struct frame_item item[LEVELS + 1];
    char name[LEVELS][CELL + 80];
    size_t first = bound[0] <= 0, n = 0;
    snprintf(name[0], sizeof name[0], "%.60s: below %g", value, bound[0]);
    snprintf(name[1], sizeof name[1], first ? "%.60s: %g to %g" : "%.0s%g to %g", value, bound[0], bound[1]);
    for (size_t i = 2; i < LEVELS - 1; i++)
        snprintf(name[i], CELL, "to %g", bound[i]);
    snprintf(name[LEVELS - 1], CELL, "above %g", bound[LEVELS - 2]);
    for (size_t i = first; i <= LEVELS; i++)
        item[n++] = (struct frame_item){i < LEVELS ? name[i] : "not measured", SVG_HEAT + (int)i, SIGN_AREA};
    frame_legend(frame, item, n);
}

char *chart_heat(const char *title, const char *subtitle, const struct chart_heat *c)
{
    struct frame frame;
    char label[SVG_LABEL];
    const double rows = (double)c->n_rows, columns = (double)c->n_columns, *bound = c->bound ? c->bound : ratio_bound;
    frame_begin(&frame, title, subtitle);
    add_legend(&frame, bound, c->value ? c->value : "ratio");
    struct grid grid = {.left = FRAME_LEFT + fmax(names_width(c->row, c->n_rows, NAME_WIDTH), 60) + GAP};
    grid.width = fmin(WIDEST, (FRAME_RIGHT - grid.left) / fmax(columns, 1));
    grid.height = fmax(LOWEST, fmin(HIGHEST, grid.width));
    grid.top = frame.y + LINE + 2 * GAP + names_width(c->column, c->n_columns, TOP_WIDTH);
    svg_text(frame.out, grid.left, frame.y + LINE, SVG_START, "small bold",
             svg_shorten(label, c->columns, SVG_SMALL, FRAME_RIGHT - grid.left));
    svg_text(frame.out, grid.left - GAP, grid.top - GAP, SVG_END, "small bold",
             svg_shorten(label, c->rows, SVG_SMALL, grid.left - GAP - FRAME_LEFT));
    svg_rect(frame.out, grid.left, grid.top, grid.width * columns, grid.height * rows, "area", SVG_HEAT + NOT_MEASURED);
    for (const struct chart_cell *cell = c->cell; cell < c->cell + c->cells; cell++)
        if (cell->row < c->n_rows && cell->column < c->n_columns && isfinite(cell->value))
            draw_cell(frame.out, &grid, bound, cell);
    draw_names(frame.out, c, &grid);
    frame.y = grid.top + grid.height * rows;
    return frame_end(&frame);
}
