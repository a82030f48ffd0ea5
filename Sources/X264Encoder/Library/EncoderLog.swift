import CX264
import Glibc
import Synchronization

/// The severity of a message of x264, with x264's numbers.
public enum LogLevel: Int32, Comparable, Sendable {
  case error = 0
  case warning = 1
  case info = 2
  /// One message for every picture.
  case debug = 3

  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rawValue < right.rawValue }
}

/// Receives one message without its line end. x264 may call it from its own threads.
public typealias LogHandler = @Sendable (LogLevel, String) -> Void

/// Turns x264's printf-style messages into text for a handler and remembers the last error.
///
/// x264 holds it unretained: it must outlive the encoder.
final class EncoderLog: Sendable {
  private let handler: LogHandler
  private let last = Mutex<String?>(nil)

  init(handler: @escaping LogHandler) {
    self.handler = handler
  }

  /// The last message of level error, because x264's functions only return -1.
  var lastError: String? { last.withLock { $0 } }

  func install(in parameters: UnsafeMutablePointer<x264_param_t>, level: LogLevel) {
    parameters.pointee.i_log_level = level.rawValue
    parameters.pointee.p_log_private = Unmanaged.passUnretained(self).toOpaque()
    parameters.pointee.pf_log = { context, level, format, arguments in
      guard let context, let format else { return }
      Unmanaged<EncoderLog>.fromOpaque(context).takeUnretainedValue().receive(level, format, arguments)
    }
  }

  /// `arguments` is a pointer on some processors and a structure on others; only a pointer can be nil.
  private func receive(_ level: Int32, _ format: UnsafePointer<CChar>, _ arguments: CVaListPointer?) {
    guard let arguments else { return }
    let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1024) { buffer -> String in
      guard let base = buffer.baseAddress else { return "" }
      // Longer messages are cut; the largest that x264 has is a line of statistics.
      guard vsnprintf(base, buffer.count, format, arguments) >= 0 else { return String(cString: format) }
      return String(cString: base)
    }
    let line = text.last?.isNewline == true ? String(text.dropLast()) : text
    let level = LogLevel(rawValue: level) ?? .debug
    if level == .error {
      last.withLock { $0 = line }
    }
    handler(level, line)
  }
}
