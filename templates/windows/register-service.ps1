# Registers a service with its command line, environment and parameters, and does not start it. Windows restarts it
# after a failure. Name, DisplayName, Path (the command line), DependsOn, Environment (NAME=value each), Parameters: a
# list of objects with name and value, for the service's own key (nssm keeps its settings there, under names that begin
# with App: those of no parameter go).
[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)][string]$Name,
    [Parameter(Mandatory = $true)][string]$DisplayName,
    [Parameter(Mandatory = $true)][string]$Path,
    [string[]]$DependsOn = @(),
    [string[]]$Environment = @(),
    $Parameters = @()
)
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
$key = "HKLM:\SYSTEM\CurrentControlSet\Services\$Name"
Assert-NotMarkedForDeletion -Name $Name
$service = Get-CimInstance -ClassName 'Win32_Service' -Filter "Name = '$Name'"
if ($null -eq $service) {
    $wanted = @{ Name = $Name; DisplayName = $DisplayName; BinaryPathName = $Path; StartupType = 'Automatic' }
    if ($DependsOn.Count -gt 0) { $wanted['DependsOn'] = $DependsOn }
    New-Service @wanted | Out-Null
} else {
    $change = @{ PathName = $Path; StartMode = 'Automatic'; ServiceDependencies = $DependsOn }
    $changed = Invoke-CimMethod -InputObject $service -MethodName 'Change' -Arguments $change
    $status = [int](Get-Property -Of $changed -Name 'ReturnValue')
    if ($status -ne 0) { throw "the service $Name cannot be changed: Win32_Service.Change returned $status (16: it is marked for deletion)" }
}
if ($Environment.Count -gt 0) {
    Set-ItemProperty -Path $key -Name 'Environment' -Value $Environment -Type 'MultiString'
} elseif (@((Get-Item -LiteralPath $key).Property) -contains 'Environment') {
    Remove-ItemProperty -Path $key -Name 'Environment'
}
if (@($Parameters).Count -gt 0) {
    if (-not (Test-Path -Path "$key\Parameters")) { New-Item -Path "$key\Parameters" -Force | Out-Null }
    foreach ($one in @($Parameters)) {
        # Without its type a number would become what the version of PowerShell makes of it.
        $type = 'DWord'
        if ($one.value -is [string]) { $type = 'ExpandString' }
        Set-ItemProperty -Path "$key\Parameters" -Name $one.name -Value $one.value -Type $type
    }
}
if (Test-Path -Path "$key\Parameters") {
    $wantedNames = @(@($Parameters) | ForEach-Object -Process { $_.name })
    foreach ($value in @((Get-Item -LiteralPath "$key\Parameters").Property)) {
        if ($value -like 'App*' -and $wantedNames -notcontains $value) { Remove-ItemProperty -Path "$key\Parameters" -Name $value }
    }
}
Invoke-Native -Exe 'sc.exe' -Arguments @('failure', $Name, 'reset=', '86400', 'actions=', 'restart/5000/restart/5000/restart/30000') | Out-Null
Write-Result -Value @{ registered = $Name }
