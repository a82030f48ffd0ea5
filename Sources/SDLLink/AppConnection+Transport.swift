import Glibc

/// Peers that connect by themselves.
extension AppConnection {
  /// Waits for the next one, for as long as it takes. Nil after ``stop(grace:)``.
  ///
  /// - Parameter isFirst: whether the app has never been registered. A service that is missing then is waited for until the connect
  ///   time-out only, since it may never have been installed.
  /// - Throws: what keeps peers from coming for good.
  func waitForPeer(_ transport: any Transport, isFirst: Bool) throws(LinkError) -> FrameReader? {
    let deadline = isFirst ? clock.now + configuration.connectTimeout : nil
    inbox.renew()
    try inbox.start(transport)
    while stopCommand == nil {
      switch inbox.take() {
      case .connection(let connection):
        guard let socket = connection.takeSocket() else { continue }
        return FrameReader(socket: socket, peer: connection.peer)
      case .failure(let failure): throw .transport(failure)
      case .status(let status): report(.waiting(status))
      case .nothing:
        let end = missingService == nil ? nil : deadline
        if let end, end <= clock.now, let failure = missingService { throw .transport(failure) }
        waitForSignal(until: end)
      }
    }
    return nil
  }

  private var missingService: TransportFailure? {
    guard case .hindered(let failure)? = inbox.status, failure.kind == .serviceMissing else { return nil }
    return failure
  }

  private func waitForSignal(until deadline: Duration?) {
    withUnsafeTemporaryAllocation(of: pollfd.self, capacity: 1) { descriptors in
      descriptors[0] = pollfd(fd: wakeUp.descriptor, events: Int16(POLLIN), revents: 0)
      pollDescriptors(descriptors, until: deadline, clock: clock)
    }
    wakeUp.clear()
  }
}
