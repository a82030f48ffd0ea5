import Glibc
import Synchronization

/// The allocator of OpenSSL, which counts and may fail. It can only be replaced before the first allocation, so the
/// tests that need it are alone in their process.
enum OpenSSLMemory {
  /// False where OpenSSL has allocated before.
  static let isReplaced: Bool = {
    typealias Allocate = @convention(c) (Int, UnsafePointer<CChar>?, Int32) -> UnsafeMutableRawPointer?
    typealias Reallocate =
      @convention(c) (UnsafeMutableRawPointer?, Int, UnsafePointer<CChar>?, Int32) -> UnsafeMutableRawPointer?
    typealias Free = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int32) -> Void
    typealias SetFunctions = @convention(c) (Allocate, Reallocate, Free) -> Int32
    guard let library = dlopen("libcrypto.so.3", RTLD_NOW), let symbol = dlsym(library, "CRYPTO_set_mem_functions")
    else { return false }
    let setFunctions = unsafeBitCast(symbol, to: SetFunctions.self)
    return setFunctions(
      { size, _, _ in size > 0 ? allocate(nil, size) : nil },
      { memory, size, _, _ in
        guard size > 0 else {
          release(memory)
          return nil
        }
        return allocate(memory, size)
      },
      { memory, _, _ in release(memory) }) == 1
  }()

  /// How many pieces of memory OpenSSL has.
  static var count: Int { pieces.load(ordering: .relaxed) }

  /// The allocation after so many others fails, and those after it succeed; negative for none.
  static func fail(after count: Int) { remaining.store(count, ordering: .relaxed) }

  /// Ends the wait for the failure.
  /// - Returns: whether an allocation has failed.
  static func stopFailing() -> Bool { remaining.exchange(-1, ordering: .relaxed) < 0 }

  private static func allocate(_ memory: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
    guard mayAllocate(), let result = realloc(memory, size) else { return nil }
    if memory == nil { pieces.add(1, ordering: .relaxed) }
    return result
  }

  private static func release(_ memory: UnsafeMutableRawPointer?) {
    guard let memory else { return }
    pieces.subtract(1, ordering: .relaxed)
    free(memory)
  }

  private static func mayAllocate() -> Bool {
    guard remaining.load(ordering: .relaxed) >= 0 else { return true }
    return remaining.subtract(1, ordering: .relaxed).newValue != -1
  }
}

private let pieces = Atomic(0)
private let remaining = Atomic(-1)
