/** The paths that Go's programs see on Windows: the rules of path/filepath and of client-go. */
import { win32 } from 'node:path';

/** filepath.IsAbs on Windows: a path without a drive is relative, also one that begins with a slash. */
export const isAbsolute = (path: string): boolean => /^[A-Za-z]:[\\/]/.test(path) || /^[\\/]{2}[^\\/]/.test(path);

/** Where client-go looks for a file that a kubeconfig names (clientcmd.ResolveLocalPaths). */
export const inKubeconfig = (kubeconfig: string, path: string): string =>
  win32.normalize(isAbsolute(path) ? path : win32.join(win32.dirname(kubeconfig), path));

/** What the kubelet writes into its kubeconfig for its certificate: filepath.Join(certDir, name). */
export const certificateIn = (certDir: string): string => win32.join(certDir, 'kubelet-client-current.pem');
