//! Where in the device a value comes from, and how big upstream's declarations let it be
//! (`sizeEstimator` and the declared types of `k8s.io/dynamic-resource-allocation/cel`).

use super::Bounds;

/// One step from a variable to a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step<'a> {
    /// A variable, which begins a path, or a field.
    Name(&'a str),
    /// An element of a list.
    Items,
    /// A value of a map.
    Values,
    /// A key of a map.
    Keys,
    /// An index of a list.
    Indices,
}

/// A list of steps: the first so many of an array in [`Paths`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    array: usize,
    length: usize,
}

/// All paths. They share memory as Go's slices do: where two steps are appended to one path, the
/// second may replace the first. Estimates depend on it: in `m.all(k, v, …)` on an attribute map
/// of which a path is known, the key counts as long as a value.
#[derive(Debug, Default)]
pub(super) struct Paths<'a> {
    arrays: Vec<Array<'a>>,
}

#[derive(Debug)]
struct Array<'a> {
    steps: Vec<Step<'a>>,
    capacity: usize,
}

impl<'a> Paths<'a> {
    /// A new path of one step.
    pub(super) fn start(&mut self, step: Step<'a>) -> Path {
        self.append(None, step)
    }

    /// Go's `append`: in place if there is room, else in a copy with room for twice as many.
    pub(super) fn append(&mut self, to: Option<Path>, step: Step<'a>) -> Path {
        let length = to.map_or(0, |path| path.length);
        if let Some(path) = to
            && let Some(array) = self.arrays.get_mut(path.array)
            && length < array.capacity
        {
            match array.steps.get_mut(length) {
                Some(old) => *old = step,
                None => array.steps.push(step),
            }
            return Path { array: path.array, length: length + 1 };
        }
        let mut steps = to.map_or(&[][..], |path| self.steps(path)).to_vec();
        steps.push(step);
        self.arrays.push(Array { steps, capacity: (length * 2).max(1) });
        Path { array: self.arrays.len() - 1, length: length + 1 }
    }

    fn steps(&self, path: Path) -> &[Step<'a>] {
        self.arrays.get(path.array).and_then(|array| array.steps.get(..path.length)).unwrap_or_default()
    }

    /// The size of what is at a path, if it is a part of the device.
    pub(super) fn size(&self, path: Path) -> Option<Bounds> {
        part(self.steps(path)).map(Part::size)
    }

    /// The size of the elements of a list at a path.
    pub(super) fn element_size(&self, path: Path) -> Option<Bounds> {
        part(self.steps(path)).and_then(|part| part.step(Step::Items)).map(Part::size)
    }
}

fn part(steps: &[Step<'_>]) -> Option<Part> {
    let (Step::Name("device"), rest) = steps.split_first()? else { return None };
    rest.iter().try_fold(Part::Device, |part, step| part.step(*step))
}

/// A part of the device, by its declaration.
#[derive(Clone, Copy)]
enum Part {
    Device,
    Driver,
    MultipleAllocations,
    Attributes,
    AttributesOfDomain,
    Attribute,
    Capacity,
    CapacityOfDomain,
    Quantity,
    Domain,
    Id,
}

impl Part {
    fn step(self, step: Step<'_>) -> Option<Self> {
        Some(match (self, step) {
            (Self::Device, Step::Name("driver")) => Self::Driver,
            (Self::Device, Step::Name("allowMultipleAllocations")) => Self::MultipleAllocations,
            (Self::Device, Step::Name("attributes")) => Self::Attributes,
            (Self::Device, Step::Name("capacity")) => Self::Capacity,
            (Self::Attributes, Step::Items | Step::Values) => Self::AttributesOfDomain,
            (Self::Capacity, Step::Items | Step::Values) => Self::CapacityOfDomain,
            (Self::Attributes | Self::Capacity, Step::Keys) => Self::Domain,
            (Self::AttributesOfDomain | Self::CapacityOfDomain, Step::Keys) => Self::Id,
            // Upstream takes any field of a map of attributes for an attribute.
            (Self::AttributesOfDomain, _) => Self::Attribute,
            (Self::CapacityOfDomain, Step::Items | Step::Values) => Self::Quantity,
            _ => return None,
        })
    }

    /// Characters of a text, entries of a map.
    fn size(self) -> Bounds {
        Bounds::up_to(match self {
            Self::Device | Self::Quantity => 0,
            Self::MultipleAllocations => 1,
            Self::Driver | Self::Domain => 63,
            // A text; lists have up to 48 elements.
            Self::Attribute => 64,
            Self::Attributes
            | Self::AttributesOfDomain
            | Self::Capacity
            | Self::CapacityOfDomain
            | Self::Id => 32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_fits_replaces_what_another_path_put_there() {
        let mut paths = Paths::default();
        let mut path = paths.start(Step::Name("device"));
        for step in [Step::Name("attributes"), Step::Values] {
            path = paths.append(Some(path), step);
        }
        let key = paths.append(Some(path), Step::Keys);
        assert_eq!(paths.size(key), Some(Bounds::up_to(32)));
        let value = paths.append(Some(path), Step::Values);
        assert_eq!(paths.size(value), Some(Bounds::up_to(64)));
        assert_eq!(paths.size(key), Some(Bounds::up_to(64)));
    }
}
