import { ConnectError } from '../../errors.ts';
import type { Host } from '../../model/inventory.ts';
import type { HostRemote } from '../../remote/host-remote.ts';
import { linuxRemote, type LinuxRemoteOptions } from '../../remote/linux.ts';
import type { Transport } from '../../transport/transport.ts';

/** The name of OpenSSH for Windows. On other systems it is portable OpenSSH, e.g. `OpenSSH_9.2p1`. */
const ON_WINDOWS = /^OpenSSH_for_Windows/;
const ELSEWHERE = /^OpenSSH_[\d.]+p\d/;

/** The remote of a host over its connection. @throws ConnectError when its SSH server shows that it runs another system */
export async function remoteOf(
  host: Host,
  transport: Transport,
  options: LinuxRemoteOptions & { readonly runId: string },
): Promise<HostRemote> {
  const { software } = transport;
  const refuse = async (message: string, remedy: string): Promise<never> => {
    await transport.close();
    throw new ConnectError(host.name, message, { retryable: false, remedy });
  };
  if (host.os === 'windows') {
    if (ELSEWHERE.test(software))
      return refuse(
        `the inventory says "os: windows", but its SSH server is ${software}`,
        'remove "os: windows" if it is a Linux host; on Windows kbuild needs OpenSSH for Windows',
      );
    const { windowsRemote } = await import('./windows-hosts.ts');
    return windowsRemote(host, transport, options);
  }
  if (ON_WINDOWS.test(software))
    return refuse(`it is a Windows host: its SSH server is ${software}`, 'say "os: windows" and "role: worker" for it');
  return linuxRemote(host, transport, options);
}
