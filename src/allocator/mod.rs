//! Can these claims be met on this node, and with which devices? Pure.
