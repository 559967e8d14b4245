# Observes the Windows edition, the hardware, and the rights of the account that kbuild uses.
[CmdletBinding()]
param()
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$system = Get-CimInstance -ClassName 'Win32_OperatingSystem'
$computer = Get-CimInstance -ClassName 'Win32_ComputerSystem'
$version = Get-ItemProperty -Path 'HKLM:\SOFTWARE\Microsoft\Windows NT\CurrentVersion'
$pageFileMiB = 0
foreach ($file in @(Get-CimInstance -ClassName 'Win32_PageFileUsage')) { $pageFileMiB += [int](Get-Property -Of $file -Name 'AllocatedBaseSize') }
Write-Result -Value @{
    hostname = [string](Get-Property -Of $computer -Name 'Name')
    caption = [string](Get-Property -Of $system -Name 'Caption')
    build = [string](Get-Property -Of $system -Name 'BuildNumber')
    revision = [int](Get-Property -Of $version -Name 'UBR')
    productType = [int](Get-Property -Of $system -Name 'ProductType')
    installation = [string](Get-Property -Of $version -Name 'InstallationType')
    edition = [string](Get-Property -Of $version -Name 'EditionID')
    architecture = [string](Get-Property -Of $system -Name 'OSArchitecture')
    manufacturer = [string](Get-PropertyOrNull -Of $computer -Name 'Manufacturer')
    model = [string](Get-PropertyOrNull -Of $computer -Name 'Model')
    cpus = [int](Get-Property -Of $computer -Name 'NumberOfLogicalProcessors')
    memoryMiB = [int]([long](Get-Property -Of $system -Name 'TotalVisibleMemorySize') / 1024)
    pageFileMiB = $pageFileMiB
    uptimeMs = Get-UptimeMilliseconds
    administrator = [bool](Test-Administrator)
    languageMode = [string]$ExecutionContext.SessionState.LanguageMode
    powershell = [string]$PSVersionTable.PSVersion
}
