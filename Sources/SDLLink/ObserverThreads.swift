import Synchronization

/// The threads on which a connection calls its observer. Nothing waits there: what it would wait for has to come from that
/// very thread.
final class ObserverThreads: Sendable {
  let connection = WorkerThread(name: "sdl-connection")
  let builtInServer = Mutex<HeadUnitServer?>(nil)

  /// Whether the caller runs in a callback of the observer.
  var isCurrent: Bool {
    connection.isCurrent || builtInServer.withLock { $0 }?.isOnOwnThread == true
  }

  /// The built-in head unit also reports on a thread of its own; nil when it has ended.
  func setBuiltInServer(_ server: HeadUnitServer?) {
    builtInServer.withLock { $0 = server }
  }
}
