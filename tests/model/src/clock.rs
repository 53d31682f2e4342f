//! Vector clocks over the streams of one sequence. Host threads need no entry: the driver lets one of them act at a time.

/// A position in the order of one stream's tasks: the n-th task of stream `stream`, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Epoch {
    /// Index of the stream in the model.
    pub stream: usize,
    /// Number of the task.
    pub position: u32,
}

/// For every stream, how many of its tasks come before.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clock(Vec<u32>);

impl Clock {
    /// Number of tasks of a stream that come before.
    pub fn get(&self, stream: usize) -> u32 {
        self.0.get(stream).copied().unwrap_or(0)
    }

    /// Notes that the task comes before, and with it all earlier ones of its stream.
    pub fn add(&mut self, epoch: Epoch) {
        if self.0.len() <= epoch.stream {
            self.0.resize(epoch.stream + 1, 0);
        }
        self.0[epoch.stream] = self.0[epoch.stream].max(epoch.position);
    }

    /// Everything that is before `other` is before this, too.
    pub fn join(&mut self, other: &Clock) {
        for (stream, position) in other.0.iter().enumerate() {
            self.add(Epoch { stream, position: *position });
        }
    }

    /// Whether the task comes before.
    pub fn covers(&self, epoch: Epoch) -> bool {
        self.get(epoch.stream) >= epoch.position
    }

    /// Whether everything in `other` comes before.
    pub fn includes(&self, other: &Clock) -> bool {
        other.0.iter().enumerate().all(|(stream, position)| self.get(stream) >= *position)
    }
}
