;; The kernel of engine.js, which holds these bytes in base64 (wat2wasm, without names). Its memory holds all arrays.
(module (memory (export "memory") 1)
 ;; y[t,o] = x[t,:] . w[o,:]; n rows, inner a multiple of 4, outer a multiple of 4; byte addresses. Two rows by four columns.
 (func $sum (param $v v128) (result f32)
  (f32.add (f32.add (f32x4.extract_lane 0 (local.get $v)) (f32x4.extract_lane 1 (local.get $v))) (f32.add (f32x4.extract_lane 2 (local.get $v)) (f32x4.extract_lane 3 (local.get $v)))))
 (func (export "matmul") (param $x i32) (param $n i32) (param $w i32) (param $y i32) (param $inner i32) (param $outer i32)
  (local $t i32) (local $o i32) (local $i i32) (local $row i32) (local $a i32) (local $b i32) (local $p i32) (local $q i32) (local $r i32) (local $s i32) (local $end i32) (local $yo i32) (local $step i32)
  (local $u v128) (local $v v128) (local $k v128)
  (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128) (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128)
  (local.set $row (i32.shl (local.get $inner) (i32.const 2)))
  (local.set $step (i32.shl (local.get $outer) (i32.const 2)))
  (loop $rows
   (if (i32.lt_s (local.get $t) (local.get $n)) (then
    (local.set $o (i32.const 0))
    (loop $cols
     (local.set $a (i32.add (local.get $x) (i32.mul (local.get $t) (local.get $row))))
     (local.set $b (select (i32.add (local.get $a) (local.get $row)) (local.get $a) (i32.lt_s (i32.add (local.get $t) (i32.const 1)) (local.get $n))))
     (local.set $p (i32.add (local.get $w) (i32.mul (local.get $o) (local.get $row))))
     (local.set $q (i32.add (local.get $p) (local.get $row))) (local.set $r (i32.add (local.get $q) (local.get $row))) (local.set $s (i32.add (local.get $r) (local.get $row)))
     (local.set $end (i32.add (local.get $a) (local.get $row)))
     (local.set $a0 (v128.const i32x4 0 0 0 0)) (local.set $a1 (v128.const i32x4 0 0 0 0)) (local.set $a2 (v128.const i32x4 0 0 0 0)) (local.set $a3 (v128.const i32x4 0 0 0 0))
     (local.set $b0 (v128.const i32x4 0 0 0 0)) (local.set $b1 (v128.const i32x4 0 0 0 0)) (local.set $b2 (v128.const i32x4 0 0 0 0)) (local.set $b3 (v128.const i32x4 0 0 0 0))
     (loop $in
      (local.set $u (v128.load (local.get $a))) (local.set $v (v128.load (local.get $b)))
      (local.set $k (v128.load (local.get $p))) (local.set $a0 (f32x4.add (local.get $a0) (f32x4.mul (local.get $u) (local.get $k)))) (local.set $b0 (f32x4.add (local.get $b0) (f32x4.mul (local.get $v) (local.get $k))))
      (local.set $k (v128.load (local.get $q))) (local.set $a1 (f32x4.add (local.get $a1) (f32x4.mul (local.get $u) (local.get $k)))) (local.set $b1 (f32x4.add (local.get $b1) (f32x4.mul (local.get $v) (local.get $k))))
      (local.set $k (v128.load (local.get $r))) (local.set $a2 (f32x4.add (local.get $a2) (f32x4.mul (local.get $u) (local.get $k)))) (local.set $b2 (f32x4.add (local.get $b2) (f32x4.mul (local.get $v) (local.get $k))))
      (local.set $k (v128.load (local.get $s))) (local.set $a3 (f32x4.add (local.get $a3) (f32x4.mul (local.get $u) (local.get $k)))) (local.set $b3 (f32x4.add (local.get $b3) (f32x4.mul (local.get $v) (local.get $k))))
      (local.set $a (i32.add (local.get $a) (i32.const 16))) (local.set $b (i32.add (local.get $b) (i32.const 16))) (local.set $p (i32.add (local.get $p) (i32.const 16))) (local.set $q (i32.add (local.get $q) (i32.const 16))) (local.set $r (i32.add (local.get $r) (i32.const 16))) (local.set $s (i32.add (local.get $s) (i32.const 16)))
      (br_if $in (i32.lt_u (local.get $a) (local.get $end))))
     (local.set $yo (i32.add (local.get $y) (i32.add (i32.mul (local.get $t) (local.get $step)) (i32.shl (local.get $o) (i32.const 2)))))
     (f32.store (local.get $yo) (call $sum (local.get $a0))) (f32.store offset=4 (local.get $yo) (call $sum (local.get $a1))) (f32.store offset=8 (local.get $yo) (call $sum (local.get $a2))) (f32.store offset=12 (local.get $yo) (call $sum (local.get $a3)))
     (if (i32.lt_s (i32.add (local.get $t) (i32.const 1)) (local.get $n)) (then
      (local.set $yo (i32.add (local.get $yo) (local.get $step)))
      (f32.store (local.get $yo) (call $sum (local.get $b0))) (f32.store offset=4 (local.get $yo) (call $sum (local.get $b1))) (f32.store offset=8 (local.get $yo) (call $sum (local.get $b2))) (f32.store offset=12 (local.get $yo) (call $sum (local.get $b3)))))
     (local.set $o (i32.add (local.get $o) (i32.const 4)))
     (br_if $cols (i32.lt_s (local.get $o) (local.get $outer))))
    (local.set $t (i32.add (local.get $t) (i32.const 2)))
    (br $rows))))))
