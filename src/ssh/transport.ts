import type { Forwarded } from './link.ts';

/** What one exchange on a channel returned. */
export interface ExecResult {
  readonly stdout: string;
  readonly stderr: string;
  /**
   * Exit status, the name of the signal, `lost` when the connection ended before a status came, or `silent` when the
   * command did not end within its limit: unknown, not zero.
   */
  readonly status: number | string;
  /** Bytes that were left out of the output because there were too many; missing when nothing was. */
  readonly dropped?: number;
}

/** How long a command may take, in ms. Real time: it guards against hosts that hang. */
export interface TimeLimit {
  readonly totalMs: number;
  /** Without a byte in either direction; default: as long as the whole command. */
  readonly silentMs?: number;
}

/** A channel that stays open, with lines coming in. */
export interface Channel {
  /** Sends text to the command's stdin. */
  write(text: string): void;
  /** Settles when the channel ends, whatever the reason. */
  readonly ended: Promise<ExecResult>;
  /** Called for every complete line of stdout. */
  onLine(listener: (line: string) => void): void;
  /** Ends the command's stdin. */
  close(): void;
  /** Ends the channel at once, for a host that hangs: `ended` settles with `lost`. */
  drop(): void;
}

/** Commands on a host. Nothing here knows a shell. */
export interface Commands {
  /**
   * Runs one command line, sends `stdin`, and collects the output; no more than five channels a connection are open at
   * once, others wait. Output beyond `maxBytes` (default 64 MiB) is dropped from the middle and marked. `limit`: after
   * it the status is `silent`. @throws ConnectError when the connection is gone and cannot be made again.
   */
  exec(
    commandLine: string,
    options?: { readonly stdin?: string | Buffer; readonly maxBytes?: number; readonly limit?: TimeLimit },
  ): Promise<ExecResult>;
  /** Starts a command and keeps its channel. */
  open(commandLine: string, stdin: string): Promise<Channel>;
}

/** Local files through the stdin and stdout of commands. */
export interface Streams {
  /** Streams `head` and then a local file to a command's stdin. Flow-controlled: memory stays bounded. */
  send(commandLine: string, localPath: string, head?: string, limit?: TimeLimit): Promise<ExecResult>;
  /**
   * Streams a command's stdout, or what follows the text `after` in it, to a local file that is created 0600.
   * Rejects when the file is already there.
   */
  receive(
    commandLine: string,
    localPath: string,
    options?: { readonly stdin?: string; readonly after?: string; readonly limit?: TimeLimit },
  ): Promise<ExecResult>;
}

/** Connections from the host to others. */
export interface Forwarding {
  /**
   * Connects from the host to an address and port, as the user who logs in. Once the server has denied it, this
   * connection asks no more. @throws ConnectError when the connection is gone and cannot be made again
   */
  forward(address: string, port: number): Promise<Forwarded>;
}

/** Files over the server's file transfer (SFTP). */
export interface FileTransfers {
  /**
   * A file to the host, from a local path or from memory. It appears piece by piece. @throws TransferError,
   * ConnectError
   */
  put(from: string | Buffer, to: string): Promise<void>;
  /** A file of the host, into memory. @throws TransferError, ConnectError */
  fetch(from: string): Promise<Buffer>;
  /** The same, to a local file that is created 0600. Rejects when it is already there. */
  fetchTo(from: string, localPath: string): Promise<void>;
}

/** The connection to a host, and what was measured of it. */
export interface Connection {
  /** The address of the other end as connected. */
  readonly peer: string;
  /** What the server calls itself, e.g. `OpenSSH_for_Windows_9.5`. */
  readonly software: string;
  /** How long the last login took, from the moment the server took the connection; undefined where that is unknown. */
  readonly loginMs: number | undefined;
  /** How many connections were made; a converged run makes one. */
  readonly connections: number;
  /** How many commands were run. */
  readonly commands: number;
  /** What starts from now on gets a new connection; what runs keeps its own. */
  renew(): void;
  close(): Promise<void>;
}

/** How bytes reach a host: one connection, several channels. */
export interface Transport extends Connection, Commands, Streams, FileTransfers, Forwarding {}

/** The other end would not take or give a file. */
export class TransferError extends Error {
  /** SFTP's status (2: no such file), or `lost` when the connection ended first. */
  readonly code: number | 'lost';

  constructor(message: string, code: number | 'lost') {
    super(message);
    this.name = 'TransferError';
    this.code = code;
  }
}
