import type { LinuxRemote } from './linux.ts';
import type { WindowsRemote } from './windows/windows-remote.ts';

/** A remote of a host of any system, with its connection. */
export type HostRemote = LinuxRemote | WindowsRemote;

/** True for the remote of a Windows host. */
export const isWindowsRemote = (remote: HostRemote): remote is WindowsRemote => remote.host.os === 'windows';
