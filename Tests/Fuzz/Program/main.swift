import Cost
import FuzzTargets
import Glibc

/// libFuzzer with the target that FUZZ_TARGET names; all arguments are libFuzzer's own, which it passes on to the
/// processes that it starts.
///
/// Each input must not cost more memory than the target's bound, nor more time than a second for each 64 KiB: that is
/// a thousand times what it takes.

let name = getenv("FUZZ_TARGET").map { String(cString: $0) }
guard let chosen = FuzzTarget.all.first(where: { $0.name == name }) else {
  print("FUZZ_TARGET names none of these targets:")
  for target in FuzzTarget.all { print(target.name) }
  exit(2)
}

/// libFuzzer's callback can't capture anything.
nonisolated(unsafe) var target = chosen

func threadSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Under the name that libFuzzer's own `main` asks for, which the linker takes in beside this one.
@c(LLVMFuzzerTestOneInput)
package func runOnce(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: data, count: size))
  let start = threadSeconds()
  let counts = cost_start() != 0
  target.run(bytes)
  let seconds = threadSeconds() - start
  let peak = Int(cost_peak())
  let limit = target.baseByteCount + target.bytesPerInputByte * size
  if getenv("FUZZ_COST") != nil { print("\(target.name): \(size) bytes, \(peak) bytes of memory, \(seconds) s") }
  if counts, peak > limit { fatalError("\(size) bytes took \(peak) bytes of memory, more than \(limit)") }
  if seconds > 1 + Double(size) / 65_536 { fatalError("\(size) bytes took \(seconds) s") }
  return 0
}

// The first run makes what is made once: tables, certificates.
target.run([])
var count = CommandLine.argc
var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
exit(LLVMFuzzerRunDriver(&count, &arguments, runOnce))
