//! Philox4x32-10: a counter-based generator (Salmon and others, "Parallel random numbers: as easy as 1, 2, 3", 2011).

/// Words after words of consecutive counters.
pub(super) struct Philox {
    key: [u32; 2],
    counter: u128,
    block: [u32; 4],
    /// Words of the block that are used.
    used: usize,
}

const MULTIPLIERS: [u32; 2] = [0xd251_1f53, 0xcd9e_8d57];
const STEPS: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];

impl Philox {
    pub(super) fn new(seed: u64, counter: [u8; 16]) -> Philox {
        let key = [seed as u32, (seed >> 32) as u32];
        Philox { key, counter: u128::from_le_bytes(counter), block: [0; 4], used: 4 }
    }

    /// The next word.
    pub(super) fn word(&mut self) -> u32 {
        if self.used == 4 {
            self.block = scramble(self.counter, self.key);
            self.counter = self.counter.wrapping_add(1);
            self.used = 0;
        }
        self.used += 1;
        self.block.get(self.used - 1).copied().unwrap_or(0)
    }

    /// The next two words.
    pub(super) fn double(&mut self) -> u64 {
        u64::from(self.word()) | u64::from(self.word()) << 32
    }
}

fn scramble(counter: u128, mut key: [u32; 2]) -> [u32; 4] {
    let mut c = [0, 32, 64, 96].map(|shift| (counter >> shift) as u32);
    for _ in 0..10 {
        let [a, b] =
            [u64::from(MULTIPLIERS[0]) * u64::from(c[0]), u64::from(MULTIPLIERS[1]) * u64::from(c[2])];
        c = [(b >> 32) as u32 ^ c[1] ^ key[0], b as u32, (a >> 32) as u32 ^ c[3] ^ key[1], a as u32];
        key = [key[0].wrapping_add(STEPS[0]), key[1].wrapping_add(STEPS[1])];
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that the authors publish with the algorithm.
    #[test]
    fn known_answers() {
        assert_eq!(scramble(0, [0, 0]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(scramble(u128::MAX, [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            scramble(0x0370_7344_1319_8a2e_85a3_08d3_243f_6a88, [0xa409_3822, 0x299f_31d0]),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn words_go_on_with_the_counter() {
        let mut from_0 = Philox::new(7, [0; 16]);
        let words: Vec<u32> = (0..12).map(|_| from_0.word()).collect();
        let mut one = [0; 16];
        one[0] = 1;
        let mut from_1 = Philox::new(7, one);
        assert_eq!((0..8).map(|_| from_1.word()).collect::<Vec<_>>(), words[4..]);
        let mut last = Philox::new(7, [0xff; 16]);
        let words_of_last: Vec<u32> = (0..5).map(|_| last.word()).collect();
        assert_eq!(words_of_last[4], words[0]);
    }
}
