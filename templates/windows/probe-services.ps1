# Observes the registration and state of services. Skips missing services. Names: the services.
[CmdletBinding()]
param([string[]]$Names = @())
Set-StrictMode -Version Latest
$ErrorActionPreference = 'Stop'
function Get-Values($Key, [string]$Name) {
    if ($null -eq $Key.PSObject.Properties[$Name]) { return @() }
    return @($Key.PSObject.Properties[$Name].Value)
}
$services = @()
foreach ($name in $Names) {
    foreach ($service in @(Get-CimInstance -ClassName 'Win32_Service' -Filter ("Name = '{0}'" -f $name))) {
        $startedMs = 0
        if ([int]$service.ProcessId -gt 0) {
            $filter = 'ProcessId = {0}' -f $service.ProcessId
            foreach ($process in @(Get-CimInstance -ClassName 'Win32_Process' -Filter $filter)) {
                $startedMs = Get-UnixMilliseconds -Time $process.CreationDate
            }
        }
        $key = Get-ItemProperty -Path ('HKLM:\SYSTEM\CurrentControlSet\Services\{0}' -f $name)
        $parameters = @()
        $parametersPath = 'HKLM:\SYSTEM\CurrentControlSet\Services\{0}\Parameters' -f $name
        if (Test-Path -Path $parametersPath) {
            $values = Get-ItemProperty -Path $parametersPath
            foreach ($property in $values.PSObject.Properties) {
                if ($property.Name -notlike 'PS*') {
                    $parameters += @{ name = [string]$property.Name; value = [string]$property.Value }
                }
            }
        }
        $services += @{
            name = [string]$service.Name
            state = [string]$service.State
            startMode = [string]$service.StartMode
            account = [string]$service.StartName
            path = [string]$service.PathName
            startedMs = $startedMs
            dependsOn = @(Get-Values $key 'DependOnService')
            environment = @(Get-Values $key 'Environment')
            restarts = $null -ne $key.PSObject.Properties['FailureActions']
            parameters = @($parameters)
        }
    }
}
Write-Result -Value @{ services = @($services) }
