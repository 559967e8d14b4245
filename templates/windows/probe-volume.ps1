# Observes the system drive: free space, file system, BitLocker (absent, or its ProtectionStatus: 0 off, 1 on, 2
# unknown).
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$drive = Get-CimInstance -ClassName 'Win32_LogicalDisk' -Filter "DeviceID = 'C:'"
$bitLocker = 'absent'
$query = @{
    Namespace = 'root/cimv2/Security/MicrosoftVolumeEncryption'
    ClassName = 'Win32_EncryptableVolume'
    Filter = "DriveLetter = 'C:'"
}
$encrypted = @()
try { $encrypted = @(Get-CimInstance @query -ErrorAction 'Stop') }
catch {
    # WBEM_E_INVALID_NAMESPACE and WBEM_E_INVALID_CLASS: Windows has no BitLocker. Any other error is not an answer.
    if ($_.FullyQualifiedErrorId -notmatch '^HRESULT 0x(8004100e|80041010)') { throw }
}
if ($encrypted.Count -gt 0) { $bitLocker = [string](Get-Property -Of $encrypted[0] -Name 'ProtectionStatus') }
Write-Result -Value @{
    freeMiB = [int]([long](Get-Property -Of $drive -Name 'FreeSpace') / 1048576)
    fileSystem = [string](Get-Property -Of $drive -Name 'FileSystem')
    bitLocker = $bitLocker
}
