// What the lock of a connection writer guards, and what one thread does with it at a time.

import SDLApp

extension ConnectionWriter {
  /// What came of having the lock once.
  struct Step {
    /// Nil when there is more to write.
    var status: Status?
    var byteCount = 0
    /// To be released without the lock.
    var finished: MediaSendState.Finished?
  }

  /// A service that carries media.
  enum Medium: Sendable, CaseIterable {
    case audio
    case video
  }

  /// A new grant of one service.
  struct GrantChange {
    var medium: Medium
    /// Nil when it ends.
    var grant: MediaGrant?
    /// Encrypts what is sent under it; nil for a service in clear.
    var channel: (any SecureChannel)?
  }

  /// A control message for one transport.
  struct Outgoing {
    var message: ControlMessage
    var role = TransportRole.primary

    /// Whole frames as they are.
    static func frames(_ bytes: [UInt8], on role: TransportRole = .primary) -> Outgoing {
      Outgoing(message: .frames(bytes), role: role)
    }

    /// An RPC to be encrypted, which belongs to the primary transport.
    static func protected(_ message: ProtectedMessage, by channel: any SecureChannel) -> Outgoing {
      Outgoing(message: .protected(message, by: channel))
    }
  }

  /// `@unchecked Sendable`: no more than this refers to the services' writers, and only the thread that holds the lock
  /// touches it.
  struct State: @unchecked Sendable {
    var primary = OutgoingLink()
    var secondary = OutgoingLink()
    var video: MediaSendState
    var audio: MediaSendState
    /// Bytes handed to the kernel over transports that are gone.
    var formerByteCount: UInt64 = 0
  }
}

extension ConnectionWriter.State {
  subscript(medium: ConnectionWriter.Medium) -> MediaSendState {
    _read {
      if medium == .audio { yield audio } else { yield video }
    }
    _modify {
      if medium == .audio { yield &audio } else { yield &video }
    }
  }

  subscript(role: TransportRole) -> OutgoingLink {
    _read {
      if role == .primary { yield primary } else { yield secondary }
    }
    _modify {
      if role == .primary { yield &primary } else { yield &secondary }
    }
  }

  var sentByteCount: UInt64 { formerByteCount &+ primary.sentByteCount &+ secondary.sentByteCount }

  /// Replaces a transport; nil for none.
  ///
  /// - Returns: The former socket, to be released without the lock.
  mutating func setSocket(_ socket: Socket?, _ role: TransportRole) -> Socket? {
    let former = self[role]
    formerByteCount &+= former.sentByteCount
    self[role] = socket.map { OutgoingLink($0) } ?? OutgoingLink()
    return former.socket
  }

  /// Whether the bytes so far end in the middle of a frame of video or audio.
  func isInsideFrame(on role: TransportRole) -> Bool {
    (video.isInsideFrame && video.role == role) || (audio.isInsideFrame && audio.role == role)
  }

  private func hasMedia(_ medium: ConnectionWriter.Medium, on role: TransportRole) -> Bool {
    self[medium].role == role && !self[medium].isEmpty
  }

  private func isIdle(_ role: TransportRole) -> Bool {
    self[role].control.isEmpty && self[role].unfinishedFrame.isEmpty && !hasMedia(.video, on: role)
      && !hasMedia(.audio, on: role)
  }

  /// The service that writes next; nil when no payload waits. Audio goes first, because it is small and its gaps are heard;
  /// but after each of its payloads a frame of video goes, so that a burst of sound does not hold the picture up.
  private func nextMedium(on role: TransportRole) -> ConnectionWriter.Medium? {
    if video.isInsideFrame, video.role == role { return .video }
    if audio.isInsideFrame, audio.role == role { return .audio }
    let hasVideo = hasMedia(.video, on: role)
    guard hasMedia(.audio, on: role) else { return hasVideo ? .video : nil }
    return self[role].isVideosTurn && hasVideo ? .video : .audio
  }

  /// Makes one system call, or discards one payload: control frames first, video and audio behind them, never one frame
  /// inside the other.
  mutating func writeOnce(on role: TransportRole, now: TimeSource) -> ConnectionWriter.Step {
    guard let socket = self[role].socket else { return ConnectionWriter.Step(status: .idle) }
    if let failure = self[role].failure { return ConnectionWriter.Step(status: .failed(failure)) }
    if self[role].isBlocked { return ConnectionWriter.Step(status: .blocked) }
    if !self[role].unfinishedFrame.isEmpty { return step(self[role].unfinishedFrame.write(to: socket), role) }
    let hasControl = !self[role].control.isEmpty
    if hasControl, !isInsideFrame(on: role) { return step(self[role].control.write(to: socket), role) }
    guard let medium = nextMedium(on: role) else { return ConnectionWriter.Step(status: .idle) }
    let mustYield = hasControl || (medium == .video && hasMedia(.audio, on: role))
    let (transfer, finished) = self[medium].write(to: socket, finishesFrameOnly: mustYield, now: now)
    self[role].isVideosTurn = medium == .audio && hasMedia(.video, on: role)
    return step(transfer, role, isSound: medium == .audio, finished)
  }

  private mutating func step(
    _ transfer: Socket.Transfer?, _ role: TransportRole, isSound: Bool = false,
    _ finished: MediaSendState.Finished? = nil
  ) -> ConnectionWriter.Step {
    var step = ConnectionWriter.Step(finished: finished)
    if let transfer {
      self[role].note(transfer, isSound: isSound)
      switch transfer {
      case .bytes(let count): step.byteCount = count
      case .wouldBlock: step.status = .blocked
      case .endOfStream, .failed: step.status = .failed(transfer)
      }
    }
    if step.status == nil, isIdle(role) { step.status = .idle }
    return step
  }
}
