;; greedy.wasm: a function that never ends but pauses, and one that grows the memory of one page.
(module
  (import "host" "pause" (func))
  (memory (export "memory") 1)
  (func (export "spin") (loop (call 0) (br 0)))
  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0))))
