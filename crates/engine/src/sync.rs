//! The only file that names `std::sync`, `parking_lot` or `loom`: everything else imports from here.
