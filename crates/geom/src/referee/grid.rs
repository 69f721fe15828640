//! The referee's broad phase: which edges and triangles have overlapping boxes.

use crate::math::Vec3;
use glam::Vec3A;

/// The closed box of an edge or triangle.
#[derive(Clone, Copy)]
pub(super) struct Item {
    pub min: Vec3,
    pub max: Vec3,
    pub index: u32,
    pub level: u32,
    pub active: bool,
}

impl Item {
    fn size(&self) -> f64 {
        (self.max - self.min).max_element()
    }

    #[inline]
    fn overlaps(&self, o: &Item) -> bool {
        self.min.cmple(o.max).all() && o.min.cmple(self.max).all()
    }
}

/// Uniform grids whose cells grow by [`RATIO`] from level to level. An item lives on the first level whose cells are no
/// smaller than itself, so that it covers few of them, however many sizes the scene mixes: a ground of two huge
/// triangles sits alone on its level.
///
/// Cell indices are a monotone function of the coordinates, so overlapping boxes share a cell whatever is rounded;
/// the grid decides how fast the answer comes, never what it is.
pub(super) struct Grid {
    origin: Vec3,
    /// Cells per metre on each level.
    per_cell: Vec<f64>,
    /// Box outside which there is nothing active: inactive items out there are left out.
    arena: Item,
}

type Cell = [i64; 3];

/// Cell size from level to level. 2: cells fit closely, more levels to look at; 4: the reverse.
const RATIO: f64 = 2.0;
/// Levels with cells below the typical size. Still smaller items share the finest level.
const FINER: usize = 20;
/// Nine tenths of the items are no larger than the typical size, whose level has cells of just that size: in a mesh
/// of similar triangles nearly all fit on it, and no cell is much larger than what it holds.
const TYPICAL: f64 = 0.9;

impl Grid {
    /// A grid for these items; none if there is nothing active to judge.
    pub fn around(edges: &[Item], triangles: &[Item]) -> Option<Grid> {
        let all = || edges.iter().chain(triangles);
        let mut arena =
            Item { min: Vec3::INFINITY, max: Vec3::NEG_INFINITY, index: 0, level: 0, active: true };
        for item in all().filter(|i| i.active) {
            (arena.min, arena.max) = (arena.min.min(item.min), arena.max.max(item.max));
        }
        if !arena.min.is_finite() {
            return None;
        }
        let mut sizes: Vec<f64> = all().filter(|i| i.overlaps(&arena)).map(Item::size).collect();
        let largest = sizes.iter().fold(0.0, |a: f64, &b| a.max(b));
        let rank = (TYPICAL * (sizes.len() - 1) as f64) as usize;
        let (_, &mut typical, _) = sizes.select_nth_unstable_by(rank, f64::total_cmp);
        // Mostly points: any length will do.
        let typical = [typical, largest, 1.0].into_iter().find(|&s| s > 0.0 && s.is_finite())?;
        let mut per_cell: Vec<f64> = (0..=FINER).rev().map(|k| RATIO.powi(k as i32) / typical).collect();
        while per_cell.last().is_some_and(|c| c * largest > 1.0) {
            per_cell.push(per_cell[per_cell.len() - 1] / RATIO);
        }
        Some(Grid { origin: arena.min, per_cell, arena })
    }

    /// The items that can meet something active, with their levels.
    pub fn keep(&self, mut items: Vec<Item>) -> Vec<Item> {
        items.retain(|i| i.overlaps(&self.arena));
        for item in &mut items {
            let size = item.size();
            item.level = self.per_cell.partition_point(|c| c * size > 1.0) as u32;
        }
        items
    }

    /// Files the items on `from` and coarser levels.
    pub fn file(&self, items: Vec<Item>, from: u32) -> Table {
        let mut levels = Vec::new();
        for item in items.iter().filter(|i| i.level >= from) {
            if !levels.contains(&item.level) {
                levels.push(item.level);
            }
        }
        levels.sort_unstable();
        let filed = || items.iter().enumerate().filter(|(_, i)| i.level >= from);
        // Counting sort by cell: number the cells, count their entries, sum up, place.
        let (mut cells, mut cell_of_entry, mut starts) = (Cells::default(), Vec::new(), vec![0u32]);
        for (_, item) in filed() {
            self.each_cell(item, item.level, |c| {
                let id = cells.insert(c, item.level);
                starts.resize(cells.keys.len() + 1, 0);
                starts[id as usize + 1] += 1;
                cell_of_entry.push(id);
            });
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut next = starts.clone();
        let mut entries = vec![Entry { item: 0, lowest: 0 }; cell_of_entry.len()];
        let mut boxes = vec![Coarse::NONE; cell_of_entry.len()];
        let mut ids = cell_of_entry.into_iter();
        for (k, item) in filed() {
            let (coarse, low) = (self.coarse(item), self.cell_of(item.min, item.level));
            self.each_cell(item, item.level, |c| {
                if let Some(id) = ids.next() {
                    let place = &mut next[id as usize];
                    entries[*place as usize] = Entry { item: k as u32, lowest: lowest(c, low) };
                    boxes[*place as usize] = coarse;
                    *place += 1;
                }
            });
        }
        Table { items, levels, cells, starts, entries, boxes }
    }

    /// The item's box in single precision. Rounding is monotone, so boxes that overlap still do.
    fn coarse(&self, item: &Item) -> Coarse {
        let round = |p: Vec3| Vec3A::from((p - self.origin).as_vec3());
        Coarse { min: round(item.min), max: round(item.max) }
    }

    #[inline]
    fn cell_of(&self, p: Vec3, level: u32) -> Cell {
        let q = (p - self.origin) * self.per_cell[level as usize];
        // Casts saturate, which is monotone too.
        [floor(q.x), floor(q.y), floor(q.z)]
    }

    #[inline]
    fn each_cell(&self, item: &Item, level: u32, mut visit: impl FnMut(Cell)) {
        let (low, high) = (self.cell_of(item.min, level), self.cell_of(item.max, level));
        for i in low[0]..=high[0] {
            for j in low[1]..=high[1] {
                for k in low[2]..=high[2] {
                    visit([i, j, k]);
                }
            }
        }
    }
}

/// Largest integer ≤ x, saturating; `f64::floor` is a call where the processor is not known to have it.
#[inline]
fn floor(x: f64) -> i64 {
    let truncated = x as i64;
    truncated.saturating_sub((x < truncated as f64) as i64)
}

/// Bit k is set when the cell is the lowest along axis k of the cells from `low` on.
#[inline]
fn lowest(cell: Cell, low: Cell) -> u32 {
    (0..3).map(|k| ((cell[k] == low[k]) as u32) << k).sum()
}

/// Numbers the cells in use: an open-addressing hash table of exact keys.
#[derive(Default)]
struct Cells {
    keys: Vec<(Cell, u32)>,
    /// Number of the cell plus 1, or 0; a power of two long, at most half full.
    places: Vec<u32>,
}

impl Cells {
    /// The place where this cell is, or where it would go.
    #[inline]
    fn place(&self, cell: Cell, level: u32) -> usize {
        let mut h = level as u64;
        for i in cell {
            h = (h ^ i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            h ^= h >> 29;
        }
        let mask = self.places.len() - 1;
        let mut place = h as usize & mask;
        while self.places[place] != 0 && self.keys[self.places[place] as usize - 1] != (cell, level) {
            place = (place + 1) & mask;
        }
        place
    }

    #[inline]
    fn find(&self, cell: Cell, level: u32) -> Option<usize> {
        if self.keys.is_empty() {
            return None;
        }
        (self.places[self.place(cell, level)] as usize).checked_sub(1)
    }

    fn insert(&mut self, cell: Cell, level: u32) -> u32 {
        if 2 * self.keys.len() >= self.places.len() {
            self.places = vec![0; (2 * self.places.len()).max(1024)];
            for (k, &(cell, level)) in self.keys.iter().enumerate() {
                let place = self.place(cell, level);
                self.places[place] = k as u32 + 1;
            }
        }
        let place = self.place(cell, level);
        if self.places[place] == 0 {
            self.keys.push((cell, level));
            self.places[place] = self.keys.len() as u32;
        }
        self.places[place] - 1
    }
}

/// A box in single precision: what most items in a cell are turned away by.
#[derive(Clone, Copy)]
struct Coarse {
    min: Vec3A,
    max: Vec3A,
}

impl Coarse {
    const NONE: Coarse = Coarse { min: Vec3A::INFINITY, max: Vec3A::NEG_INFINITY };

    #[inline]
    fn overlaps(&self, o: &Coarse) -> bool {
        (self.min.cmple(o.max) & o.min.cmple(self.max)).all()
    }
}

pub(super) fn finest(items: &[Item]) -> u32 {
    items.iter().map(|i| i.level).min().unwrap_or(u32::MAX)
}

/// An item in a cell, and along which axes that is the lowest of the item's cells.
#[derive(Clone, Copy)]
struct Entry {
    item: u32,
    lowest: u32,
}

/// Items filed by their cells.
pub(super) struct Table {
    pub items: Vec<Item>,
    /// The levels that hold filed items, sorted.
    levels: Vec<u32>,
    cells: Cells,
    /// Cell c lists entries starts[c]..starts[c+1], with their boxes.
    starts: Vec<u32>,
    entries: Vec<Entry>,
    boxes: Vec<Coarse>,
}

impl Table {
    pub fn levels_from(&self, level: u32) -> &[u32] {
        &self.levels[self.levels.partition_point(|&l| l < level)..]
    }

    /// Calls `found` once for each item on this level whose box overlaps the seeker's, if one of both is active.
    #[inline]
    pub fn meet(&self, seeker: &Item, level: u32, grid: &Grid, mut found: impl FnMut(&Item)) {
        let low = grid.cell_of(seeker.min, level);
        let coarse = grid.coarse(seeker);
        grid.each_cell(seeker, level, |cell| {
            let Some(c) = self.cells.find(cell, level) else {
                return;
            };
            let range = self.starts[c] as usize..self.starts[c + 1] as usize;
            let seeker_lowest = lowest(cell, low);
            for (boxed, entry) in self.boxes[range.clone()].iter().zip(&self.entries[range]) {
                // Of the cells that both cover, the lowest reports the pair: along each axis it is where one of the
                // two begins.
                if boxed.overlaps(&coarse) && (entry.lowest | seeker_lowest) == 7 {
                    let item = &self.items[entry.item as usize];
                    if item.overlaps(seeker) && (item.active | seeker.active) {
                        found(item);
                    }
                }
            }
        });
    }
}
