import Foundation
import Glibc
import HTTPFetch
import SDLLink
import Testing

/// Alone in its process, because libsoup stays loaded.
@Suite struct ModuleLockWholeProcessTests {
  /// A module whose initialisation, under GModule's lock, says so, waits, and then takes the dynamic linker's lock, as a
  /// GStreamer plugin may.
  private static let source = """
    #include <dlfcn.h>
    #include <unistd.h>
    extern const char *g_module_check_init (void *module);
    const char *g_module_check_init (void *module) {
      char byte = 0;
      (void) !write (STARTED, &byte, 1);
      (void) !read (GATE, &byte, 1);
      dlopen ("libz.so.1", RTLD_NOW);
      return 0;
    }
    """

  @Test func libraryLoadsWhileAnotherThreadLoadsAPlugin() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    var started: [Int32] = [-1, -1]
    var gate: [Int32] = [-1, -1]
    try #require(pipe(&started) == 0 && pipe(&gate) == 0)
    defer { for descriptor in started + gate { close(descriptor) } }
    let module = try Self.compile(in: folder, started: started[1], gate: gate[0])
    let ended = Monitor(0)
    @Sendable func end() {
      ended.withLock { $0 += 1 }
      ended.broadcast()
    }

    try WorkerThread.detach(name: "plugin") {
      openModule(module)
      end()
    }
    var byte: UInt8 = 0
    #expect(read(started[0], &byte, 1) == 1)
    try WorkerThread.detach(name: "policy") {
      _ = try? HTTPClient.post(
        [1], to: "http://127.0.0.1:1/", contentType: "text/plain", allowsThisMachine: true)
      end()
    }
    // If it is loaded now, then by a thread with the linker's lock that waits for GModule's.
    let isLoaded = (0..<50).contains { _ in
      poll(nil, 0, 10)
      return Self.hasLoaded("libsoup-3.0")
    }
    #expect(!isLoaded)
    #expect(write(gate[1], &byte, 1) == 1)
    #expect(ended.wait(atLatest: MonotonicClock.now + .seconds(10)) { $0 == 2 })
  }

  private static func hasLoaded(_ library: String) -> Bool {
    (try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8))?.contains(library) == true
  }

  private static func compile(in folder: URL, started: Int32, gate: Int32) throws -> String {
    let source = folder.appendingPathComponent("module.c")
    let module = folder.appendingPathComponent("module.so").path
    try Self.source.write(to: source, atomically: true, encoding: .utf8)
    let compiler = Process()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.arguments = [
      "cc", "-shared", "-fPIC", "-DSTARTED=\(started)", "-DGATE=\(gate)", "-o", module, source.path, "-ldl",
    ]
    try compiler.run()
    compiler.waitUntilExit()
    try #require(compiler.terminationStatus == 0)
    return module
  }
}

private func openModule(_ path: String) {
  let library = dlopen("libgmodule-2.0.so.0", RTLD_NOW)
  guard let library, let symbol = dlsym(library, "g_module_open") else { return }
  typealias Open = @convention(c) (UnsafePointer<CChar>, UInt32) -> UnsafeMutableRawPointer?
  _ = unsafeBitCast(symbol, to: Open.self)(path, 0)
}
