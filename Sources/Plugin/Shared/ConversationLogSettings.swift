import GStreamerKit
import Glibc
import SDLLink

/// Where the conversation of an app and a head unit is logged.
struct ConversationLogSettings: Equatable, Sendable {
  /// Nil for nowhere.
  var path: String?
  /// Whether what identifies people and cars is replaced.
  var isBlank = false

  /// Creates the file; nil if no log is wanted. It is written from ``ConversationWriter/start()`` on.
  ///
  /// - Parameters:
  ///   - keepsRecent: whether the last lines are wanted besides, or without a file.
  ///   - warn: called once, on a thread of its own, if the file can't be written later.
  /// - Throws: why it can't be created.
  func writer(
    keepsRecent: Bool = false, clock: TimeSource = .monotonic, warn: @escaping @Sendable (ElementError) -> Void
  ) throws(ElementError) -> ConversationWriter? {
    guard path != nil || keepsRecent else { return nil }
    do throws(LinkError) {
      // A state change does not wait for the reader of a pipe.
      let file = try path.map { path throws(LinkError) in
        try ConversationWriter.file(path, waitsForReader: false) { code in
          let failure = LinkError.system(operation: "write \(path)", errno: code)
          warn(
            .resource(
              GST_RESOURCE_ERROR_WRITE,
              "The conversation log is not complete: \(failure). Make room for it, or set conversation-log to another path."
            ))
        }
      }
      return ConversationWriter(
        file, isBlank: isBlank, keepsRecent: keepsRecent, since: clock.now, clock: clock)
    } catch {
      throw .resource(
        GST_RESOURCE_ERROR_OPEN_WRITE,
        "The conversation log can't be written: \(error). Set conversation-log to a file in a folder that exists and is writable; a pipe needs a reader."
      )
    }
  }
}

extension Property {
  static func conversationBlank(_ path: SettingsPath<Bool>) -> Property {
    .boolean(
      "conversation-blank", path, "Conversation blank",
      "Replace what identifies people and cars in the conversation log by numbered words, such as names, VIN and positions",
      .mutableReady)
  }
}
