// The order in which work-groups take the tiles of C: included where m, n, tile_m, tile_n and
// swizzle are defined.

// tile_of_group is the tile that this work-group computes, as its column and row among all
// tiles, or (-1, -1) for a work-group that the grid has to spare.
int2 tile_of_group(void)
{
    const int columns = (n + tile_n - 1) / tile_n;
    const int rows = (m + tile_m - 1) / tile_m;
    const int group = (int)get_group_id(1) * (int)get_num_groups(0) + (int)get_group_id(0);
    if (group >= columns * rows) {
        return (int2)(-1, -1);
    }
    // The last band may have fewer rows.
    const int band = group / (swizzle * columns);
    const int within = group % (swizzle * columns);
    const int high = min(swizzle, rows - band * swizzle);
    return (int2)(within / high, band * swizzle + within % high);
}
