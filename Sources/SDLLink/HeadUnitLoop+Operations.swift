import SDLHeadUnit

/// The operations that other threads and the script ask for.
extension HeadUnitLoop {
  /// As many as one session takes.
  private static let maximumAnswersInAdvance = 100

  func apply(_ operation: HeadUnitServer.Operation, now: Duration) {
    switch operation {
    case .control(let recipient, let input):
      for app in recipients(recipient) { app.perform { input(&$0, now) } }
    case .read(let id, let isReading):
      for app in recipients(.app(id)) {
        app.connection.setReading(isReading, now: now)
        app.secondary?.setReading(isReading, now: now)
      }
    case .disconnect(let recipient):
      for app in recipients(recipient) {
        // What earlier operations have made it send.
        if stalledUntil == nil { app.connection.write() }
        app.connection.end(nil)
      }
    case .answerOnce(let recipient, let answer):
      let apps = recipients(recipient)
      if apps.isEmpty, case .appOnScreen = recipient, answersInAdvance.count < Self.maximumAnswersInAdvance {
        answersInAdvance.append(answer)
      }
      for app in apps {
        app.perform { session in
          session.answerNextVideoStart(answer)
          return []
        }
      }
    case .setCondition(let change):
      conditions.apply(change)
      for app in apps { app.perform { $0.apply(change, now: now) } }
    case .behave(.secondaryTransport(.served)): serveSecondary(port: nil, now: now)
    case .serveSecondary(let port): serveSecondary(port: port, now: now)
    case .disconnectSecondary(let recipient):
      for app in recipients(recipient) {
        if stalledUntil == nil { app.secondary?.write() }
        app.secondary?.end(nil)
      }
    case .behave(let change):
      if case .secondaryTransport = change { server.secondaryListener?.close() }
      configuration.behaviour.apply(change)
      for app in apps { app.perform { $0.change(change, now: now) } }
    case .touch(let recipient, let gesture):
      guard let id = recipients(recipient).first?.id else { return }
      script.begin(gesture, app: id, now: now)
    case .stall(let time):
      // As above.
      if stalledUntil == nil { for connection in connections { connection.write() } }
      stalledUntil = now + time
      for connection in connections { connection.setHanging(true, now: now) }
    case .refuseConnections(let isRefusing):
      self.isRefusing = isRefusing
      if isRefusing, case .listener(let port) = server.source { port.close() }
      if isRefusing { server.secondaryListener?.close() }
    case .transport(let event): receive(event, now: now)
    case .configure(var configuration):
      configuration.behaviour = self.configuration.behaviour
      self.configuration = configuration
    }
  }

  func recipients(_ recipient: HeadUnitServer.Recipient) -> [ServedApp] {
    let connected = apps.filter { !$0.connection.isOver }
    switch recipient {
    case .app(let id): return connected.filter { $0.id == id }
    case .appOnScreen:
      let registered = connected.filter { $0.summary != nil }
      return [registered.first { $0.id == screen.appOnScreen } ?? registered.first].compactMap(\.self)
    case .appInFront(let input):
      let id = HeadUnitScreen.app(inFrontFor: input, among: connected.compactMap(\.summary))
      return recipients(id.map { .app($0) } ?? .appOnScreen)
    case .everyApp: return connected
    }
  }

  /// Carries out what is due by now, unless the head unit hangs.
  func followScript(now: Duration) {
    while stalledUntil == nil, let due = script.takeDue(at: now) {
      var recipient = due.app.map { HeadUnitServer.Recipient.app($0) } ?? .appOnScreen
      if let step = due.step, step.followsAppsEnd, recipients(recipient).isEmpty { recipient = .appOnScreen }
      guard let operation = HeadUnitServer.Operation(due.command, for: recipient) else { continue }
      let lacksApp = operation.requiredRecipient.map { recipients($0).isEmpty } ?? false
      if let step = due.step {
        let id: UInt8? = if case .app(let id) = recipient { id } else { nil }
        server.report(lacksApp ? .leftOut(step, id: id) : .carriedOut(step, id: id))
      }
      if !lacksApp { apply(operation, now: now) }
    }
    if script.takeDropping() { server.report(.stepsDropped) }
  }
}
