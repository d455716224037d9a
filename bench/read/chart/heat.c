/* heat.c - draws a matrix of ratios as coloured cells, with a number in each cell where there is room. */
#include "chart/frame.h"

#include <math.h>

enum { NAME_WIDTH = 200, TOP_WIDTH = 150, GAP = 8, WIDEST = 64, HIGHEST = 26, LOWEST = 15, LINE = 15 };

/* Colours are SVG_HEAT + level: level i + 1 is for ratios from bound[i] on. */
static const double bound[] = {0.95, 1.05, 1.1, 1.25, 1.5, 2};
enum { LEVELS = sizeof bound / sizeof *bound + 1, NOT_MEASURED = LEVELS };
static const char *const level_name[] = {"below 0.95", "0.95 to 1.05", "to 1.10", "to 1.25",
                                         "to 1.50",    "to 2",         "above 2", "not measured"};

static int level_of(double ratio)
{
    int level = 0;
    while (level < LEVELS - 1 && ratio >= bound[level])
        level++;
    return level;
}

static int is_drawable(const struct chart_heat *c, const struct chart_cell *cell)
{
    return cell->row < c->n && cell->column < c->n && isfinite(cell->ratio);
}

/* Where the cells are: cell (i, j) begins at (left + j width, top + i height). */
struct grid {
    double left, top, width, height;
};

/* Writes the ratio, as long as it fits into the cell; "" if it does not. */
static const char *number_in(char text[CELL], double ratio, double width)
{
    for (int decimals = 2; decimals >= 0; decimals--) {
        snprintf(text, CELL, "%.*f", decimals, fmin(ratio, 1e6));
        if (svg_text_width(text, SVG_SMALL) + 4 <= width && (decimals || ratio >= 10))
            return text;
    }
    *text = 0;
    return text;
}

static void draw_cell(FILE *out, const struct grid *grid, const struct chart_cell *cell)
{
    double x = grid->left + grid->width * (double)cell->column, y = grid->top + grid->height * (double)cell->row;
    int level = level_of(cell->ratio);
    char text[CELL], classes[32];
    svg_rect(out, x + 0.5, y + 0.5, grid->width - 1, grid->height - 1, "area", SVG_HEAT + level);
    snprintf(classes, sizeof classes, "small on%d", SVG_HEAT + level);
    if (*number_in(text, cell->ratio, grid->width))
        svg_text(out, x + grid->width / 2, y + grid->height / 2 + 4.5, SVG_MIDDLE, classes, text);
}

/* Writes the names of the rows at the left and of the columns above, as many as there is room for. */
static void draw_names(FILE *out, const struct chart_heat *c, const struct grid *grid)
{
    char label[SVG_LABEL];
    size_t every = (size_t)ceil(LINE / grid->width);
    for (size_t i = 0; i < c->n; i++) {
        svg_text(out, grid->left - GAP, grid->top + grid->height * ((double)i + 0.5) + 4.5, SVG_END, "small",
                 svg_shorten(label, c->name[i], SVG_SMALL, NAME_WIDTH));
        if (i % every == 0)
            svg_text(out, grid->left + grid->width * ((double)i + 0.5) + 4.5, grid->top - GAP, SVG_UPWARDS, "small",
                     svg_shorten(label, c->name[i], SVG_SMALL, TOP_WIDTH));
    }
}

/* Returns the width of the widest name, of at most `most`. */
static double names_width(const struct chart_heat *c, double most)
{
    double widest = 0;
    char label[SVG_LABEL];
    for (size_t i = 0; i < c->n; i++)
        widest = fmax(widest, svg_text_width(svg_shorten(label, c->name[i], SVG_SMALL, most), SVG_SMALL));
    return widest;
}

/* Adds a legend of all colours. */
static void add_legend(struct frame *frame)
{
    struct frame_item item[LEVELS + 1];
    for (int i = 0; i <= LEVELS; i++)
        item[i] = (struct frame_item){level_name[i], SVG_HEAT + i, SIGN_AREA};
    frame_legend(frame, item, LEVELS + 1);
}

char *chart_heat(const char *title, const char *subtitle, const struct chart_heat *c)
{
    struct frame frame;
    char label[SVG_LABEL];
    double n = (double)c->n;
    frame_begin(&frame, title, subtitle);
    add_legend(&frame);
    struct grid grid = {.left = FRAME_LEFT + fmax(names_width(c, NAME_WIDTH), 60) + GAP};
    grid.width = fmin(WIDEST, (FRAME_RIGHT - grid.left) / fmax(n, 1));
    grid.height = fmax(LOWEST, fmin(HIGHEST, grid.width));
    grid.top = frame.y + LINE + 2 * GAP + names_width(c, TOP_WIDTH);
    svg_text(frame.out, grid.left, frame.y + LINE, SVG_START, "small bold",
             svg_shorten(label, c->columns, SVG_SMALL, FRAME_RIGHT - grid.left));
    svg_text(frame.out, grid.left - GAP, grid.top - GAP, SVG_END, "small bold",
             svg_shorten(label, c->rows, SVG_SMALL, grid.left - GAP - FRAME_LEFT));
    svg_rect(frame.out, grid.left, grid.top, grid.width * n, grid.height * n, "area", SVG_HEAT + NOT_MEASURED);
    for (const struct chart_cell *cell = c->cell; cell < c->cell + c->cells; cell++)
        if (is_drawable(c, cell))
            draw_cell(frame.out, &grid, cell);
    draw_names(frame.out, c, &grid);
    frame.y = grid.top + grid.height * n;
    return frame_end(&frame);
}
