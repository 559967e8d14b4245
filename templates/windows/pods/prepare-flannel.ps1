# Runs in a HostProcess pod before flanneld: puts the CNI plugins of the image in place, and takes away what an earlier
# flanneld left, so that nobody believes it.
# Parameters come from the pod's environment: CNI_BIN, FLANNEL_RUN (folders of the host).
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'

foreach ($folder in @($env:CNI_BIN, $env:FLANNEL_RUN)) {
    if (-not (Test-Path -LiteralPath $folder)) { New-Item -ItemType 'Directory' -Path $folder -Force | Out-Null }
}
Copy-Item -Path "$env:CONTAINER_SANDBOX_MOUNT_POINT\cni\*.exe" -Destination $env:CNI_BIN -Force
$subnet = "$env:FLANNEL_RUN\subnet.env"
if (Test-Path -LiteralPath $subnet) { Remove-Item -LiteralPath $subnet -Force }

# Clouds answer questions about the machine at this address; the network of pods would take the way to it.
& 'route.exe' 'add' '169.254.169.254' 'mask' '255.255.255.255' '0.0.0.0' | Out-Null
Write-Output -InputObject 'flannel is prepared'
exit 0
