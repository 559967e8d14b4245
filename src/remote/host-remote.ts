import type { LinuxRemote } from './linux.ts';
import type { WindowsRemote } from './windows/windows-remote.ts';

/** A remote of a host of any system, with its connection. */
export type HostRemote = LinuxRemote | WindowsRemote;

/** Tells the two apart. */
export const isWindowsRemote = (remote: HostRemote): remote is WindowsRemote => remote.host.os === 'windows';
